/** A detached run in the reference model, and its names. */
export type Policy = 'no' | 'always' | `on-failure:${number}` | 'on-failure';
export type Grant = 'all' | 'limited' | 'noRestart' | 'none';
export type Bytes = 'v1' | 'v2' | undefined;

export interface Backoff {
  readonly delayMs: number;
  readonly maxDelayMs: number;
  readonly giveUpAfter?: number;
}

const DEFAULT: Backoff = { delayMs: 1000, maxDelayMs: 300_000 };
export const BACKOFFS: Readonly<Partial<Record<Grant, Backoff>>> = {
  all: DEFAULT,
  limited: { delayMs: 4000, maxDelayMs: 8000, giveUpAfter: 1 },
};

export interface ModelClient {
  readonly key: string;
  /** Owner's part of the names that administrators use. */
  readonly short: string;
  readonly isAdministrator?: boolean;
  readonly isUnidentified?: boolean;
}

export interface ModelRun {
  readonly owner: ModelClient;
  readonly name: string;
  program: string;
  /** Arguments of its process. */
  token: string;
  policy: Policy;
  /** It is removed when it ends. */
  isBrief: boolean;
  /** Undefined: any bytes, for a program of the config. */
  bytes: Bytes;
  /** Variant of the entry in the config. */
  readonly kept?: number;
  state: 'running' | 'waiting' | 'stopped' | 'gaveUp' | 'ended';
  isBegun: boolean;
  restarts: number;
  failures: number;
  refusals: number;
  startedMs: number;
  /** Time of day of its start, by which a later daemon judges how long it lived if its keeper died. */
  startedAtWallMs: number;
  isAdopted: boolean;
  /** Delays from the entry that allowed the last attempt. */
  backoff: Backoff;
  dueMs: number;
  dueAtWallMs: number;
  output: string;
  end: { readonly code: number; readonly reason: string };
  endedMs: number;
  endedAtWallMs: number;
  /** The plan as a later daemon finds it, because it cannot be written while the disk is full. */
  planned: Pick<ModelRun, 'state' | 'dueAtWallMs' | 'restarts' | 'failures' | 'refusals'>;
  /** When the daemon tries to write it again. */
  storeMs?: number | undefined;
  /** It ended when neither its keeper nor a daemon lived. */
  isGone?: boolean;
  /** End that no daemon has seen. */
  unseen?:
    | {
        readonly code: number;
        readonly reason: string;
        readonly wallMs: number;
        readonly livedMs: number;
      }
    | undefined;
}

export interface Wanted {
  readonly name: string;
  readonly program: string;
  readonly variant: number;
  readonly policy: Policy;
}

const LOST = { code: 137, reason: 'hostFailed' };

export function isOver({ state }: ModelRun): boolean {
  return state === 'ended' || state === 'gaveUp' || state === 'stopped';
}

export function isSeenBy(run: ModelRun, client: ModelClient): boolean {
  return client.isAdministrator === true || run.owner === client;
}

export function shownTo(client: ModelClient, { kept, owner, name }: ModelRun): string {
  return kept !== undefined || owner === client ? name : `${owner.short}/${name}`;
}

/** @returns The run that a client calls `name`, or the code of the error. */
export function named(
  runs: readonly ModelRun[],
  name: string,
  client: ModelClient,
): ModelRun | 'notFound' | 'invalidArgument' {
  const seen = runs.filter((run) => isSeenBy(run, client));
  const exact = seen.find((run) => shownTo(client, run) === name);
  if (exact !== undefined) return exact;
  const fitting = seen.filter((run) => [run.name, `${run.owner.short}/${run.name}`].includes(name));
  return fitting.length > 1 ? 'invalidArgument' : (fitting[0] ?? 'notFound');
}

export function oldestEnded(runs: readonly ModelRun[]): ModelRun | undefined {
  return runs.filter(isOver).sort((a, b) => a.endedMs - b.endedMs)[0];
}

export function newRun(owner: ModelClient, name: string): ModelRun {
  const numbers = {
    restarts: 0,
    failures: 0,
    refusals: 0,
    startedMs: 0,
    startedAtWallMs: 0,
    dueMs: 0,
    dueAtWallMs: 0,
    endedMs: 0,
    endedAtWallMs: 0,
  };
  return {
    owner,
    name,
    program: '',
    token: '',
    policy: 'no',
    isBrief: false,
    bytes: undefined,
    state: 'waiting',
    isBegun: false,
    isAdopted: false,
    end: LOST,
    output: '',
    backoff: DEFAULT,
    planned: { state: 'waiting', ...numbers },
    ...numbers,
  };
}
