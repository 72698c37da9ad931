import type { Rate } from '@wins/time';

/** How the time of the daemon's one thread is shared: by what is used, in turns. */
export interface ProcessorRow {
  /** What a client may use in its turn while others wait, in milliseconds. */
  readonly quantumMs: number;
  /** The most octets that one read gives: while others wait, and alone. */
  readonly readOctets: { readonly shared: number; readonly alone: number };
  /** Milliseconds of one client while others are served; beyond it the log names the client. */
  readonly busy: Rate;
  /** Requests of one client while others are served; beyond it, its input waits. */
  readonly requests: Rate;
}

/**
 * A scrape is one request and a rollout a few hundred; a client that follows runs has two for each.
 */
export const PROCESSOR: ProcessorRow = {
  quantumMs: 2,
  readOctets: { shared: 16 * 1024, alone: 64 * 1024 },
  busy: { burst: 1000, perSecond: 500 },
  requests: { burst: 2000, perSecond: 500 },
};
