/** A text that cannot be parsed. */
export class TextError extends Error {
  override readonly name = 'TextError';

  constructor(
    /**
     * `invalidName`: not the name of a local pipe, or not a valid folder of pipes. `notFound`: no variable names a folder of pipes.
     * `invalidDescriptor`: not a security descriptor, or one with an unknown part.
     */
    readonly code: 'invalidName' | 'notFound' | 'invalidDescriptor',
    message: string,
    /** The fault, without the text itself. */
    readonly found?: string,
  ) {
    super(message);
  }
}
