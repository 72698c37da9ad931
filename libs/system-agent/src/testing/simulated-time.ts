import type { Abortable } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, StartTimer } from '../ports.js';

interface Timer {
  /** Undefined after it was closed, because a closed timer stays in `#moments` until its time, and must not keep what it used. */
  end: (() => void) | undefined;
  readonly ms: number;
  /** Undefined when it does not run. */
  atMs: number | undefined;
}

/**
 * Time of a simulation: `run` moves it from timer to timer. After the timers of a moment have ended, it lets everything settle
 * that they caused. Timers have a resolution of 10 ms.
 */
export class SimulatedTime implements Clock {
  /** Timers by the moment at which they may be due. A restarted timer stays where it was until then. */
  readonly #moments = new Map<number, Timer[]>();
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  readonly startTimer: StartTimer = (end, ms) => {
    const timer: Timer = { end, ms, atMs: this.#nowMs + ms };
    this.#add(timer, this.#nowMs + ms);
    const handle = {
      refresh: (): unknown => timer.atMs !== undefined && (timer.atMs = this.#nowMs + ms),
      close: (): unknown => (timer.end = timer.atMs = undefined),
    };
    return handle as ReturnType<StartTimer>;
  };

  wait(ms: number, { signal }: Abortable = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        timer.close();
        reject(signal?.reason as Error);
      };
      const timer = this.startTimer(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }

  async run(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await turn();
    for (let atMs = momentOf(this.#nowMs); atMs <= endMs; atMs += MOMENT_MS) {
      // A timer may start another one that is due at the same moment.
      for (let due = this.#take(atMs); due.length > 0; due = this.#take(atMs)) {
        this.#nowMs = Math.max(this.#nowMs, atMs);
        let hasEnded = false;
        for (const timer of due) {
          if (timer.atMs === undefined) continue;
          if (momentOf(timer.atMs) > atMs) {
            this.#add(timer, timer.atMs);
            continue;
          }
          hasEnded = true;
          timer.atMs = undefined;
          timer.end?.();
        }
        if (hasEnded) await turn();
      }
    }
    this.#nowMs = endMs;
  }

  #take(atMs: number): readonly Timer[] {
    const due = this.#moments.get(atMs);
    if (due === undefined) return NO_TIMERS;
    this.#moments.delete(atMs);
    return due;
  }

  #add(timer: Timer, atMs: number): void {
    const moment = Math.max(momentOf(atMs), momentOf(this.#nowMs));
    const timers = this.#moments.get(moment);
    if (timers === undefined) this.#moments.set(moment, [timer]);
    else timers.push(timer);
  }
}

const MOMENT_MS = 10;
const NO_TIMERS: readonly Timer[] = [];

function momentOf(ms: number): number {
  return Math.ceil(ms / MOMENT_MS) * MOMENT_MS;
}
