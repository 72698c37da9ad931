import type { ExposedPort } from '@wins/base';
import type { EntryName } from '../policy/executable-policy.js';
import type { ProcessErrorCode, ProcessError, ProcessRule } from '../process-error.js';
import type { Admission } from '../judge-start.js';
import type { RunFile } from '../policy/run-files.js';
import type { StartPlan, StartRequest } from '../start-request.js';
import type { PortsOutcome, RunLimits } from './managed-process.js';

/**
 * One decision, for the audit log. Omits arguments and values of variables, because they may be secret. `path` is the
 * client's spelling, cut at 1,024 characters. Write the record as JSON, because `path` may contain any character.
 */
export type DecisionRecord = DecisionFacts &
  /** `rule`: the path of the entry that allowed a start, or the rule that refused the request. */
  (
    | { readonly verdict: 'allowed'; readonly rule?: string | undefined }
    | {
        readonly verdict: 'refused';
        readonly code: ProcessErrorCode;
        readonly rule?: ProcessRule | undefined;
      }
  );

/** The parts of a {@link DecisionRecord} that do not depend on its verdict. */
export interface DecisionFacts {
  readonly action: 'start' | 'wait' | 'keepAlive' | 'stop' | 'updateFile';
  /** `ProcessOwner.id` of the requesting connection. */
  readonly requester: string;
  /** The client's own name for itself, unverified. */
  readonly clientSays?: string | undefined;
  /** The system's description of the client (`ProcessOwner.client`). Only in records of starts. */
  readonly client?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** The run's `ManagedProcess.mark`. Knowing it gives no access to the run. */
  readonly mark: string;
  readonly path: string;
  readonly name?: string | undefined;
  /** Name that its owner gave a detached run. */
  readonly runName?: string | undefined;
  /** File name of the program, as its entry in the allowed list spells it. Present only if the entry allows the client. */
  readonly entry?: EntryName | undefined;
  /** The variable that caused the refusal, cut at 128 characters. */
  readonly variable?: string | undefined;
  /** Digest of the bytes that will run. */
  readonly sha256?: string | undefined;
  /** At most 64 ports, such as `tcp 9796`. */
  readonly exposes?: readonly string[] | undefined;
  /**
   * `opened`: the manager opened the ports before the program started. `notNeeded`: `portsReason` says why.
   * `asTheHostHasThem`: the daemon has no port opener.
   */
  readonly ports?: 'opened' | 'notNeeded' | 'asTheHostHasThem' | undefined;
  readonly portsReason?: string | undefined;
  /** Limits and their mechanism, such as `memoryBytes=67108864 pids=8 by=cgroup`. */
  readonly limits?: string | undefined;
  /** Each file's name and size in bytes, such as `token 812`. */
  readonly files?: readonly string[] | undefined;
  readonly argumentCount?: number | undefined;
  /** Names of the client's variables: the first 64, each cut at 128 characters; `''` for a variable without `=`. */
  readonly variables?: readonly string[] | undefined;
}

const MAX_AUDITED_PATH = 1024;
const MAX_AUDITED_NAMES = 64;
const MAX_AUDITED_NAME = 128;

export function startDecision(
  { owner, path, args, envs, exposes = [], files = [] }: StartRequest,
  mark: string,
  outcome: {
    readonly admission?: Admission | undefined;
    readonly plan?: StartPlan | undefined;
    readonly sha256?: string;
    readonly ports?: PortsOutcome | undefined;
    readonly limits?: RunLimits | undefined;
    readonly refusal?: ProcessError;
  },
): DecisionRecord {
  const { admission, plan, sha256, ports, limits, refusal } = outcome;
  return {
    action: 'start',
    ...verdictOf(refusal, plan?.rule.path),
    requester: owner.id,
    clientSays: owner.label,
    client: owner.client?.description,
    mark,
    path: path.slice(0, MAX_AUDITED_PATH),
    name: plan?.name,
    runName: owner.runName,
    entry: admission?.entry,
    variable: refusal?.variable?.slice(0, MAX_AUDITED_NAME),
    sha256,
    exposes: exposes.length > 0 ? exposes.slice(0, MAX_AUDITED_NAMES).map(portText) : undefined,
    ports: ports?.kind,
    portsReason: ports?.kind === 'notNeeded' ? ports.why : undefined,
    limits: limits && limitsText(limits),
    files: files.length > 0 ? fileTexts(files) : undefined,
    argumentCount: args.length,
    variables: envs.slice(0, MAX_AUDITED_NAMES).map(auditedName),
  };
}

/** @param allowing - The path of the entry that allowed the start. */
export function verdictOf(refusal: ProcessError | undefined, allowing?: string) {
  if (refusal === undefined) return { verdict: 'allowed', rule: allowing } as const;
  const { code, rule } = refusal;
  return { verdict: 'refused', code, rule } as const;
}

// A variable without `=` may be a secret value whose name the client forgot.
function auditedName(entry: string): string {
  return entry.slice(0, Math.min(MAX_AUDITED_NAME, Math.max(0, entry.indexOf('='))));
}

export function fileTexts(files: readonly RunFile[]): readonly string[] {
  return files
    .slice(0, MAX_AUDITED_NAMES)
    .map(({ name, content }) => `${name.slice(0, MAX_AUDITED_NAME)} ${content.length}`);
}

function limitsText({ means, ...limits }: RunLimits): string {
  return [...Object.entries(limits), ['by', means]].map((fact) => fact.join('=')).join(' ');
}

function portText({ protocol, port }: ExposedPort): string {
  return `${protocol} ${port}`;
}
