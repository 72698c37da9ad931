import type { AgentEvent } from '../agent-event.js';

/** Limit of the topics that are remembered; beyond it, the oldest is reported again. */
const MAX_TOPICS = 1000;

/** Tells what a person should know once, until the message changes or it was well in between. */
export class Warnings {
  readonly #told = new Map<string, string>();
  readonly #onEvent: (event: AgentEvent) => void;

  constructor(onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
  }

  /**
   * `topic` names what it is about, such as a file. What differs each time, such as a name with a time in it, belongs into the error.
   *
   * @param message - Undefined: it is well again.
   */
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

  /** Does an act that may fail without harm to all else: reports the failure, and clears it once the act succeeds. */
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
