import { inspect } from 'node:util';

const HIDDEN = '(hidden)';

/** A text that is never shown: printing it, or using it in a message or as JSON, yields `(hidden)`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the secret text, for its intended use only. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
