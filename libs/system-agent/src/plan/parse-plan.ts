import { decodeAnyway } from '@wins/trusted-files';
import { escapeText } from '@wins/wins-program';

import { AgentError } from '../agent-error.js';
import { foldKeys } from './fold-keys.js';
import { planChecksum } from './plan-checksum.js';
import { PLAN_KEYS, planSchema } from './plan-schema.js';
import type { Plan } from './plan.js';

/** What a Secret can hold. */
const MAX_BYTES = 1024 * 1024;
/** The bound of Go's decoder. */
const MAX_DEPTH = 10_000;

/** A plan as its text says. */
export interface ParsedPlan {
  readonly plan: Plan;
  readonly checksum: string;
  /** Paths of keys that mean nothing to this agent. */
  readonly unknownKeys: readonly string[];
}

/**
 * Reads a plan as Go does: keys in any case, the last of several wins, null is nothing. `null` and `{}` are empty plans.
 *
 * Neither message nor cause repeats a value of the plan, which may be a secret.
 *
 * @param text At most 1 MiB.
 * @throws AgentError `invalidPlan`, with the path of the key where one is wrong.
 */
export function parsePlan(text: Buffer): ParsedPlan {
  if (text.length > MAX_BYTES) {
    throw invalid(`found ${text.length} bytes; wanted at most ${MAX_BYTES}`);
  }
  // As Go does with bytes that are no UTF-8.
  const { value, unknown } = foldKeys(parseJson(decodeAnyway(text)), PLAN_KEYS);
  const parsed = planSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = issue?.path ?? [];
    const found = typeOf(path.reduce<unknown>(memberOf, value));
    throw invalid(
      `found ${found} at ${path.length > 0 ? pathText(path) : 'its top'}; wanted ${wanted(issue)}`,
    );
  }
  return { plan: parsed.data, checksum: planChecksum(text), unknownKeys: unknown };
}

function parseJson(text: string): unknown {
  refuseDepth(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of V8 quotes the text.
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const place = position === undefined ? '' : ` at position ${position}`;
    throw invalid(`found text that is not JSON${place}; wanted one JSON object`);
  }
}

function refuseDepth(text: string): void {
  // No text is deeper than it has brackets that open; nearly every plan has few.
  if ((text.match(/[[{]/g)?.length ?? 0) <= MAX_DEPTH) return;
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > MAX_DEPTH) throw invalid(`found lists or objects nested deeper than ${MAX_DEPTH}`);
  }
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return (value as Record<PropertyKey, unknown> | undefined)?.[key];
}

function pathText(path: readonly PropertyKey[]): string {
  const joined = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('');
  return escapeText(joined.replace(/^\./, ''), { maxLength: 256 });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    return 'a number that is no integer';
  return TYPES[typeof value] ?? typeof value;
}

function wanted(issue: { readonly code: string; readonly expected?: unknown } | undefined): string {
  // The one custom check is that of the map of probes.
  return TYPES[issue?.code === 'custom' ? 'object' : String(issue?.expected)] ?? 'another type';
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'an integer',
  number: 'an integer',
  object: 'an object',
  string: 'text',
};

function invalid(what: string): AgentError {
  return new AgentError('invalidPlan', `cannot read the plan: ${what}`);
}
