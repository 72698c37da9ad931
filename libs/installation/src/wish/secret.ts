import { inspect } from 'node:util';

const HIDDEN = '(hidden)';

/** A text that is shown to no one: printed, put into a message or made JSON it is `(hidden)`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself, for the one that it is meant for. */
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
