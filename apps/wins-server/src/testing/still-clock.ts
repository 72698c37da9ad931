import type { Abortable } from 'node:events';
import type { Clock } from '@wins/time';

/** The latest wait ends when the spec calls `end`. */
export class StillClock implements Clock {
  /** Requested waits, in milliseconds. */
  readonly waits: number[] = [];
  #end: () => void = () => undefined;

  now(): Date {
    return new Date(0);
  }

  monotonicMs(): number {
    return 0;
  }

  wait(ms: number, { signal }: Abortable = {}): Promise<void> {
    this.waits.push(ms);
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      signal?.addEventListener('abort', () => reject(new Error('ended')));
    });
  }

  end(): void {
    this.#end();
  }
}
