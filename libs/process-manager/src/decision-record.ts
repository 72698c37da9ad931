import type { ProcessError, ProcessErrorCode } from './process-error.js';
import type { StartPlan, StartRequest } from './start-request.js';

const MAX_AUDITED_PATH = 1024;
const MAX_AUDITED_NAMES = 64;
const MAX_AUDITED_NAME = 128;

/**
 * One decision, for the audit log. It holds neither arguments nor the values of variables, which may
 * be secrets. `path` is as the client spelt it, cut at 1,024 characters: write it as JSON.
 */
export interface DecisionRecord {
  readonly action: 'start' | 'wait' | 'keepAlive' | 'stop';
  readonly verdict: 'allowed' | 'refused';
  /** `ProcessOwner.id` of the connection that asked. */
  readonly requester: string;
  /** What the client calls itself: its own words, proof of nothing. */
  readonly clientSays?: string;
  /** `ProcessOwner.client` of a start, as the system describes it. */
  readonly client?: Readonly<Record<string, string | number>>;
  /** Names the run without giving a right to it: the `mark` of `ManagedProcess`. */
  readonly mark: string;
  readonly path: string;
  readonly name?: string;
  /** The code of the refusal. */
  readonly code?: ProcessErrorCode;
  /** The rule that refused, or the path of the entry that allowed. */
  readonly rule?: string;
  /** Digest of the bytes that will run. */
  readonly sha256?: string;
  readonly argumentCount?: number;
  /** The first 64 names, each cut at 128 characters; empty for an entry without `=`. */
  readonly environmentNames?: readonly string[];
}

/** The record of a start that was refused or that may now happen. */
export function startDecision(
  { owner, path, args, envs }: StartRequest,
  mark: string,
  outcome: {
    readonly plan?: StartPlan | undefined;
    readonly sha256?: string;
    readonly refusal?: ProcessError;
  },
): DecisionRecord {
  const { plan, sha256, refusal } = outcome;
  const rule = refusal === undefined ? plan?.rule.path : refusal.rule;
  return {
    action: 'start',
    verdict: refusal === undefined ? 'allowed' : 'refused',
    requester: owner.id,
    ...(owner.label === undefined ? {} : { clientSays: owner.label }),
    ...(owner.client === undefined ? {} : { client: owner.client.description }),
    mark,
    path: path.slice(0, MAX_AUDITED_PATH),
    ...(plan === undefined ? {} : { name: plan.name }),
    ...(refusal === undefined ? {} : { code: refusal.code }),
    ...(rule === undefined ? {} : { rule }),
    ...(sha256 === undefined ? {} : { sha256 }),
    argumentCount: args.length,
    environmentNames: envs.slice(0, MAX_AUDITED_NAMES).map(auditedName),
  };
}

// What has no `=` may be a value that lost its name.
function auditedName(entry: string): string {
  return entry.slice(0, Math.min(MAX_AUDITED_NAME, Math.max(0, entry.indexOf('='))));
}
