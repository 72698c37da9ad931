import type { PipePath } from './pipe-path.js';

/** How {@link PipeListener.close} ends what is open. */
export interface ClosePipeListenerOptions {
  /** How long open connections may go on, in milliseconds. Default 0: they are destroyed at once. */
  readonly graceMs?: number | undefined;
}

/** A pipe that is being served. */
export interface PipeListener extends AsyncDisposable {
  /** What is served, and where. */
  readonly path: PipePath;
  /** How many connections are open, handed out or not yet spoken. */
  readonly connectionCount: number;
  /**
   * Stops accepting, frees the name, and resolves when every accepted connection has ended.
   *
   * Idempotent: later calls wait for the first one, and their options do not count. A name
   * that was taken over by someone else meanwhile is left alone.
   *
   * @throws PipeError when the name could not be removed; everything is closed nevertheless.
   */
  close(options?: ClosePipeListenerOptions): Promise<void>;
}
