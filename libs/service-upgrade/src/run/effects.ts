import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '@wins/time';
import { isHeld, TrustedFileError } from '@wins/trusted-files';

/** Sees every act that changes something outside this process, by name, and does it, or not. */
export type Around = <T>(effect: string, act: () => Promise<T>) => Promise<T>;

/** Nobody else waits for the same file. */
const BACKOFF = { initialMs: 10, maxMs: 500, jitter: 0 };

/** How long to wait for others. */
export interface Patience {
  /** How long a file that someone else holds is waited for, in milliseconds. Default 15,000. */
  readonly heldFileMs?: number;
  readonly platform?: NodeJS.Platform;
  /** What waits. Default: the clock of the system. */
  readonly sleep?: (delayMs: number) => Promise<void>;
}

/**
 * The one door through which an upgrade changes the world: journal, files and service alike. Whoever wants to know that an
 * upgrade survives its own end at any moment makes it end here.
 */
export class Effects {
  readonly #around: Around;
  readonly #heldFileMs: number;
  readonly #platform: NodeJS.Platform | undefined;
  /** Waits before something is tried again. */
  readonly sleep: (delayMs: number) => Promise<void>;

  constructor(around: Around = (_effect, act) => act(), patience: Patience = {}) {
    this.#around = around;
    this.#heldFileMs = patience.heldFileMs ?? 15_000;
    this.sleep = patience.sleep ?? ((delayMs) => delay(delayMs));
    this.#platform = patience.platform;
  }

  /** Does it once. */
  readonly once: Around = (effect, act) => this.#around(effect, act);

  /** Does it, again and again while someone else holds the file, up to the limit; then the last error is thrown. */
  readonly run: Around = async (effect, act) => {
    const end = performance.now() + this.#heldFileMs;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#around(effect, act);
      } catch (error) {
        if (!this.#isHeld(error) || performance.now() >= end) throw error;
      }
      await this.sleep(backoffMs(BACKOFF, failures));
    }
  };

  #isHeld(error: unknown): boolean {
    const cause = error instanceof TrustedFileError ? error.cause : error;
    return isHeld(cause, this.#platform);
  }
}
