import { TokenBucket } from '@wins/time';
import type { AuditFacts } from './audit-record.js';

const WINDOW_MS = 1000;
const FULL_PER_WINDOW = 10;
const MAX_KEYS = 1024;
const TOLD_GROUPS = 8;
/** Byte limit for the records of all clients together: a burst, then a rate per second. */
const RATE_BYTES = { burst: 1024 * 1024, perSecond: 4_000 };
const OTHERS = '*others';

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

interface Group {
  readonly client: string;
  readonly kind: string;
  readonly verdict: string;
  seen: number;
  counted: number;
}

/**
 * Admits at most ten records per second from each group of records, and counts the others. All records of a group have the same client, kind,
 * verdict and `actionId`. Beyond 1,024 groups, records of new groups are only counted, as one group. Those with an `actionId` are admitted instead.
 */
export class FloodGate {
  #windowStartMs = 0;
  #groups = new Map<string, Group>();
  #counted = 0;
  readonly #shares = new Map<boolean, TokenBucket>();
  #nowMs = 0;

  /** Returns false for a record that is only counted. `sizeOf` is called only when needed, because it encodes the record. */
  admit(kind: string, sizeOf: () => number, flood: Flood, nowMs: number): boolean {
    const { client, verdict, actionId } = flood;
    const group = this.#groupOf(JSON.stringify([kind, verdict, client, actionId]), {
      client,
      kind,
      verdict,
      mayShare: actionId === undefined,
    });
    if (group === undefined) return true;
    group.seen += 1;
    const isFew = group.client !== OTHERS && group.seen <= FULL_PER_WINDOW;
    if (isFew && (actionId !== undefined || this.#take(verdict === 'allowed', sizeOf(), nowMs)))
      return true;
    group.counted += 1;
    this.#counted += 1;
    return false;
  }

  dueInMs(nowMs: number): number | undefined {
    if (this.#counted === 0) return undefined;
    return Math.max(0, this.#windowStartMs + WINDOW_MS - nowMs);
  }

  /** Starts a new second if the old one is over or `force` is true. Returns the counts of the old one. */
  turn(nowMs: number, force = false): AuditFacts | undefined {
    if (!force && nowMs - this.#windowStartMs < WINDOW_MS) return undefined;
    this.#windowStartMs = nowMs;
    const total = this.#counted;
    const groups = [...this.#groups.values()].filter(({ counted }) => counted > 0);
    this.#groups = new Map();
    this.#counted = 0;
    if (total === 0) return undefined;
    const told = groups
      .sort((a, b) => b.counted - a.counted)
      .slice(0, TOLD_GROUPS)
      .map(({ client, kind, verdict, counted: count }) => ({ kind, client, verdict, count }));
    const others = total - told.reduce((sum, { count }) => sum + count, 0);
    return { kind: 'counted', count: total, groups: told, ...(others > 0 && { others }) };
  }

  #groupOf(
    key: string,
    { mayShare, ...facts }: Omit<Group, 'seen' | 'counted'> & { readonly mayShare: boolean },
  ): Group | undefined {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const isFull = this.#groups.size >= MAX_KEYS;
    if (isFull && !mayShare) return undefined;
    // All groups beyond the limit are counted as one. This one has the kind and verdict of the first group that exceeded the limit.
    const shared = isFull ? this.#groups.get(OTHERS) : undefined;
    if (shared !== undefined) return shared;
    const group = { ...facts, ...(isFull && { client: OTHERS }), seen: 0, counted: 0 };
    this.#groups.set(isFull ? OTHERS : key, group);
    return group;
  }

  #take(isAllowed: boolean, sizeBytes: number, nowMs: number): boolean {
    this.#nowMs = nowMs;
    const share = this.#shares.get(isAllowed) ?? new TokenBucket(RATE_BYTES, () => this.#nowMs);
    this.#shares.set(isAllowed, share);
    return share.take(sizeBytes);
  }
}
