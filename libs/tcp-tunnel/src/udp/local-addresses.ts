import { systemClock, type Clock } from '@wins/time';
import { networkInterfaces } from 'node:os';
import { isDeepStrictEqual } from 'node:util';

/** An address of this host that a socket can have. */
export interface LocalAddress {
  readonly host: string;
  readonly family: 'IPv4' | 'IPv6';
  /** Distinguishes the same link-local address of two adapters, and of an adapter that was removed and created again. */
  readonly key: string;
}

/** Options of {@link LocalAddresses}. */
export interface LocalAddressesOptions {
  /** Default: `os.networkInterfaces`. */
  readonly read?: typeof networkInterfaces | undefined;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
}

/** Shortest interval between two looks, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Longest interval: a look takes long, too, while the process or the machine stands still. */
const LOOK_WITHIN_MS = 60_000;
/** Ratio of the interval to the duration of a look, so that looks use at most 0.2 % of a processor. With many adapters a look takes long. */
const LEAST_RATIO = 500;

/**
 * Follows the addresses of this host for many listeners. While there are listeners, it lists the addresses about once a second, because Node does
 * not report changes.
 */
export class LocalAddresses {
  readonly #read: typeof networkInterfaces;
  readonly #clock: Clock;
  readonly #followers = new Set<() => void>();
  #current: readonly LocalAddress[] = [];
  #ending = new AbortController();

  constructor({ read = networkInterfaces, clock = systemClock }: LocalAddressesOptions = {}) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Remains the same object while the addresses do. */
  get current(): readonly LocalAddress[] {
    return this.#current;
  }

  /** Calls `looked` after each look, until disposed. It must not throw. */
  follow(looked: () => void): Disposable {
    if (this.#followers.size === 0) {
      this.#ending = new AbortController();
      void this.#lookAgainAndAgain(this.#ending.signal);
    }
    this.#followers.add(looked);
    return {
      [Symbol.dispose]: () => {
        this.#followers.delete(looked);
        if (this.#followers.size === 0) this.#ending.abort();
      },
    };
  }

  async #lookAgainAndAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const beganAt = performance.now();
      this.#update();
      for (const looked of [...this.#followers]) looked();
      const waitMs = Math.max(LOOK_EVERY_MS, (performance.now() - beganAt) * LEAST_RATIO);
      await this.#clock.wait(Math.min(waitMs, LOOK_WITHIN_MS), { signal }).catch(() => undefined);
    }
  }

  #update(): void {
    try {
      const found = localAddresses(this.#read());
      if (!isDeepStrictEqual(found, this.#current)) this.#current = found;
    } catch {
      // For example, no file descriptors are left. Keep the known addresses until the next look.
    }
  }
}

/** Returns each address once, in the order of the adapters. */
export function localAddresses(
  adapters: ReturnType<typeof networkInterfaces>,
): readonly LocalAddress[] {
  const found = new Map<string, LocalAddress>();
  for (const [name, addresses = []] of Object.entries(adapters)) {
    for (const each of addresses) {
      const { address, family } = each;
      const isLinkLocal = each.family === 'IPv6' && each.scopeid !== 0;
      const zone = process.platform === 'win32' ? String(each.scopeid) : name;
      const host = isLinkLocal ? `${address}%${zone}` : address;
      const key = isLinkLocal ? `${host} ${each.scopeid}` : host;
      if (!found.has(key)) found.set(key, { host, family, key });
    }
  }
  return [...found.values()];
}
