import { decodeAnyway } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { invalidPlan, PLAN, Reading } from './plan-format.js';
import type { Plan } from './plan.js';

const MAX_BYTES = 1024 * 1024;
/** Limit of Go's decoder. */
const MAX_DEPTH = 10_000;

/** A valid plan, with the digest by which the server recognises it. */
export interface ParsedPlan {
  readonly plan: Plan;
  /** Lower-case SHA-256 of the plan's bytes. */
  readonly checksum: string;
  /** Paths of ignored keys, for a warning. */
  readonly unknownKeys: readonly string[];
}

/**
 * Parses a plan as Go does: keys match in any case, the last duplicate wins, null means absent. `null` and `{}` are empty plans.
 * @param text - At most 1 MiB.
 * @throws AgentError `invalidPlan`. The message names the path of a wrong key. It shows no values, because they may be secret.
 */
export function parsePlan(text: Buffer): ParsedPlan {
  if (text.length > MAX_BYTES)
    throw invalidPlan(`found ${text.length} bytes; wanted at most ${MAX_BYTES}`);
  // Replaces invalid UTF-8, as Go does.
  const value = parseJson(decodeAnyway(text));
  const at = new Reading();
  const plan = PLAN.read(value, at);
  return { plan, checksum: planChecksum(text), unknownKeys: at.unknownKeys };
}

/** Lower-case hex SHA-256. As in Rancher, different texts are different plans, even with equal meaning. */
export function planChecksum(text: Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function parseJson(text: string): unknown {
  refuseDepth(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message quotes the text, so use only the position.
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const location = position === undefined ? '' : ` at position ${position}`;
    throw invalidPlan(`found text that is not JSON${location}; wanted one JSON object`);
  }
}

function refuseDepth(text: string): void {
  // A fast check: nesting cannot exceed the number of opening brackets.
  if ((text.match(/[[{]/g)?.length ?? 0) <= MAX_DEPTH) return;
  let depth = 0;
  // A string without an end also matches: to look for its end again from each quote in it would take minutes.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > MAX_DEPTH)
      throw invalidPlan(`found lists or objects nested deeper than ${MAX_DEPTH}`);
  }
}
