import type { Logger } from './logger.js';

/** Levels that an administrator may set for some time. */
export const SET_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** How much is logged now. */
export interface LevelNow {
  readonly level: string;
  /** When it ends; undefined for the level of the config and the options. */
  readonly until?: Date;
}

/** The level of a logger: that of the config and the options, but for the time for which an administrator sets another. */
export class LogLevel implements Disposable {
  readonly #logger: Pick<Logger, 'level'>;
  #usual: string;
  #set: { readonly now: LevelNow; readonly timer: NodeJS.Timeout } | undefined;

  constructor(logger: Pick<Logger, 'level'>) {
    this.#logger = logger;
    this.#usual = logger.level;
  }

  get now(): LevelNow {
    return this.#set?.now ?? { level: this.#usual };
  }

  /** Sets the level of the config and the options, from now on. */
  become(usual: string): void {
    this.#usual = usual;
    this.#apply();
  }

  /** Sets another level for this long; one that was set before is forgotten. */
  set(level: (typeof SET_LEVELS)[number], forMs: number): void {
    clearTimeout(this.#set?.timer);
    const timer = setTimeout(() => this.reset(), forMs).unref();
    this.#set = { now: { level, until: new Date(Date.now() + forMs) }, timer };
    this.#apply();
  }

  /** Ends what was set before its time. */
  reset(): void {
    clearTimeout(this.#set?.timer);
    this.#set = undefined;
    this.#apply();
  }

  /** Ends the level that was set; the logger keeps its usual level. Idempotent. */
  [Symbol.dispose](): void {
    this.reset();
  }

  #apply(): void {
    this.#logger.level = this.now.level;
  }
}
