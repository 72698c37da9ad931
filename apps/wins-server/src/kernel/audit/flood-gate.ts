import { TokenBucket } from '@wins/time';
import { FloodLimiter } from '../admission/flood-limiter.js';
import type { AuditFacts } from './audit-record.js';

const MAX_KEYS = 1024;
const LIMITS = { most: 10, periodMs: 1000, mostKeys: MAX_KEYS };
const TOLD_GROUPS = 8;
/** Byte limit for the records of all clients together: a burst, then a rate per second. */
const RATE_BYTES = { burst: 1024 * 1024, perSecond: 4_000 };

export interface Flood {
  readonly client: string;
  /** Records with the verdict `allowed` share one byte limit. Records with any other verdict share a second one. */
  readonly verdict: string;
  /**
   * Identifier of one action, for example the mark of the run that a client stops. Each action has its own group of records, and the byte limit does
   * not apply to that group. Without `actionId`, one group covers all actions of the client with the same kind and verdict.
   */
  readonly actionId?: string;
}

type Group = readonly [
  kind: string,
  client: string,
  verdict: string,
  actionId?: string | undefined,
];

/**
 * Admits at most ten records per second from each group of records, and counts the others. All records of a group have the same client, kind,
 * verdict and `actionId`. Beyond 1,024 groups, records of new groups are only counted, as one group. Those with an `actionId` are admitted instead.
 */
export class FloodGate {
  readonly #limiter = new FloodLimiter(LIMITS);
  readonly #shares = new Map<boolean, TokenBucket>();
  #nowMs = 0;

  /** Returns false for a record that is only counted. `sizeOf` is called only when needed, because it encodes the record. */
  admit(kind: string, sizeOf: () => number, flood: Flood, nowMs: number): boolean {
    const { client, verdict, actionId } = flood;
    const key = keyOf([kind, client, verdict, actionId]);
    const isAction = actionId !== undefined;
    if (isAction && this.#limiter.isBeyond(key)) return true;
    if (!this.#limiter.admit(key, keyOf([kind, '*others', verdict]))) return false;
    if (isAction || this.#take(verdict === 'allowed', sizeOf(), nowMs)) return true;
    this.#limiter.count(key);
    return false;
  }

  dueInMs(nowMs: number): number | undefined {
    return this.#limiter.dueInMs(nowMs);
  }

  /** Starts a new second if the old one is over or `force` is true. Returns the counts of the old one. */
  turn(nowMs: number, force = false): AuditFacts | undefined {
    const counted = [...this.#limiter.turn(nowMs, force)].sort(([, a], [, b]) => b - a);
    if (counted.length === 0) return undefined;
    const sumOf = (counts: typeof counted) => counts.reduce((sum, [, count]) => sum + count, 0);
    const groups = counted.slice(0, TOLD_GROUPS).map(([key, count]) => {
      const [kind, client, verdict] = JSON.parse(key) as Group;
      return { kind, client, verdict, count };
    });
    const others = sumOf(counted.slice(TOLD_GROUPS));
    return { kind: 'counted', count: sumOf(counted), groups, ...(others > 0 && { others }) };
  }

  #take(isAllowed: boolean, sizeBytes: number, nowMs: number): boolean {
    this.#nowMs = nowMs;
    const share = this.#shares.get(isAllowed) ?? new TokenBucket(RATE_BYTES, () => this.#nowMs);
    this.#shares.set(isAllowed, share);
    return share.take(sizeBytes);
  }
}

const keyOf = (group: Group): string => JSON.stringify(group);
