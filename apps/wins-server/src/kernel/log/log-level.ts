import type { Logger } from './logger.js';

export const SET_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export interface LevelNow {
  readonly level: string;
  /** End of a temporary level; undefined for the level of the config and the options. */
  readonly until?: Date;
}

/** Controls a logger's level: that of the config and the options, except while an administrator sets a temporary one. */
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

  /** Changes the level of the config and the options. */
  become(usual: string): void {
    this.#usual = usual;
    this.#apply();
  }

  /** Sets a temporary level for this time; it replaces an earlier one. */
  set(level: (typeof SET_LEVELS)[number], forMs: number): void {
    clearTimeout(this.#set?.timer);
    const timer = setTimeout(() => this.reset(), forMs).unref();
    this.#set = { now: { level, until: new Date(Date.now() + forMs) }, timer };
    this.#apply();
  }

  /** Ends the temporary level early. */
  reset(): void {
    clearTimeout(this.#set?.timer);
    this.#set = undefined;
    this.#apply();
  }

  /** Ends the temporary level; the logger keeps its usual level. Idempotent. */
  [Symbol.dispose](): void {
    this.reset();
  }

  #apply(): void {
    this.#logger.level = this.now.level;
  }
}
