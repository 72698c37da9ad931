/** A text that this library cannot read. */
export class TextError extends Error {
  override readonly name = 'TextError';

  constructor(
    /**
     * `invalidName`: it names no local pipe or folder of pipes. `notFound`: nothing says which folder the pipes are in.
     * `invalidDescriptor`: it is no security descriptor, or one that says something not known here.
     */
    readonly code: 'invalidName' | 'notFound' | 'invalidDescriptor',
    message: string,
    /** The fault alone, without the text; undefined when it is no text that was wrong. */
    readonly found?: string,
  ) {
    super(message);
  }
}
