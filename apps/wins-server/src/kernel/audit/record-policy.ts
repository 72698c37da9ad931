import type { Flood } from './flood-gate.js';

/** A decision as the parts of the daemon report it. */
export interface Decision {
  readonly action: string;
  readonly verdict: string;
  readonly requester: string;
  readonly mark?: string;
  readonly client?: object | undefined;
  /** What it was about, as far as the part knows it. */
  readonly path?: string;
  readonly name?: string;
  /** Of a start: the entry of the whitelist by which it was judged. */
  readonly entry?: string;
  readonly port?: number | undefined;
  readonly address?: string;
  /** Why it was refused, or what allowed it. */
  readonly code?: string;
  readonly rule?: string;
  /** The name of the variable for which it was refused. */
  readonly variable?: string;
  /** Of an act of a plan: where the plan is from, the SHA-256 of its bytes, and the try. */
  readonly source?: string;
  readonly checksum?: string;
  readonly attempt?: number;
  readonly periodic?: boolean;
  /** How what was decided has ended. */
  readonly outcome?: string;
}

/**
 * How a decision is recorded. `before`: the act waits until its record is on the disk. `with`: it does not happen while no record
 * can be written, but waits for none. `after`: nothing happens that could wait.
 */
export interface RecordRule {
  readonly when: 'before' | 'with' | 'after';
  /** Absent when it is always written out. */
  readonly flood?: Flood;
}

/** What changes the host, or cannot come a thousand times a second. */
const NEVER_COUNTED = new Set([
  ...['start', 'addRoutes', 'removeRoutes', 'upgrade'],
  ...['planApply', 'planWrite', 'planDelete', 'planInstruction', 'planCredentials'],
  ...['csiProxyApply', 'csiProxyFetch', 'csiProxySwitch', 'csiProxyStart'],
  ...['csiProxyTidy', 'csiProxyRemove'],
  ...['debugHeap', 'debugLogLevel'],
]);
/** What gives a client something, and changes nothing. */
const GRANTS = new Set(['wait', 'keepAlive', 'connect']);

/**
 * Judges how a decision is recorded. Pure.
 *
 * @param client - By whom floods are counted.
 */
export function recordRule(
  { action, verdict, requester, mark }: Decision,
  client = requester,
): RecordRule {
  const flood = { client, verdict };
  if (verdict !== 'allowed') return { when: 'after', flood };
  if (NEVER_COUNTED.has(action)) return { when: 'before' };
  // A run can be stopped once; a client that repeats it is counted.
  if (action === 'stop') return { when: 'before', flood: { ...flood, act: mark ?? '' } };
  return { when: GRANTS.has(action) ? 'with' : 'after', flood };
}
