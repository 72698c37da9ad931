import type { AgentEvent } from '../agent-event.js';

/** How many topics are remembered; beyond, the oldest is told again. */
const MAX_TOPICS = 1000;

/** Tells what a person should know once, until the message changes or it was well in between. */
export class Warnings {
  readonly #told = new Map<string, string>();
  readonly #onEvent: (event: AgentEvent) => void;

  constructor(onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** `topic` names what it is about, such as a file. What differs each time, such as a name with a time in it, belongs into the error. */
  tell(source: string, topic: string, message: string, error?: unknown): void {
    const key = JSON.stringify([source, topic]);
    if (this.#told.get(key) === message) return;
    this.#told.delete(key);
    this.#told.set(key, message);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_TOPICS && oldest !== undefined) this.#told.delete(oldest);
    const cause = error instanceof Error ? { error } : {};
    this.#onEvent({ kind: 'warning', source, message, ...cause });
  }

  /** It is well again. */
  clear(source: string, topic: string): void {
    this.#told.delete(JSON.stringify([source, topic]));
  }
}
