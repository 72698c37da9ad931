import type { AgentEvent } from '../agent-event.js';

/** Maximum number of remembered topics; beyond it, the oldest may be reported again. */
const MAX_TOPICS = 1000;

/** Reports a warning once, until its message changes or the problem was solved in between. */
export class Warnings {
  readonly #told = new Map<string, string>();
  readonly #onEvent: (event: AgentEvent) => void;

  constructor(onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Reports a message about `topic`; undefined when the problem is solved. Varying parts belong in the error. */
  tell(source: string, topic: string, message: string | undefined, error?: unknown): void {
    const key = JSON.stringify([source, topic]);
    if (this.#told.get(key) === message) return;
    this.#told.delete(key);
    if (message === undefined) return;
    this.#told.set(key, message);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_TOPICS && oldest !== undefined) this.#told.delete(oldest);
    const cause = error instanceof Error ? { error } : {};
    this.#onEvent({ kind: 'warning', source, message, ...cause });
  }

  /** Warns when the function fails, and clears the warning after a success. */
  async attempt(
    source: string,
    topic: string,
    message: string,
    act: () => Promise<void>,
  ): Promise<void> {
    try {
      await act();
      this.tell(source, topic, undefined);
    } catch (error) {
      this.tell(source, topic, message, error);
    }
  }
}
