import { messageOf } from '@wins/wins-program';
import type { AgentEvent } from '../agent-event.js';

/** How many topics are remembered; beyond, the oldest is told again. */
const MAX_TOPICS = 1000;

/** Tells what a person should know once, until it changes or was well in between. */
export class Warnings {
  readonly #told = new Map<string, string>();
  readonly #onEvent: (event: AgentEvent) => void;

  constructor(onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** `topic` names what it is about, such as a file; `error` is the reason. */
  tell(source: string, topic: string, message: string, error?: unknown): void {
    const key = JSON.stringify([source, topic]);
    const reason = error === undefined ? message : `${message} ${messageOf(error)}`;
    if (this.#told.get(key) === reason) return;
    this.#told.delete(key);
    this.#told.set(key, reason);
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
