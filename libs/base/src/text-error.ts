/** A text that this library cannot read. */
export class TextError extends Error {
  override readonly name = 'TextError';

  constructor(
    /**
     * `invalidName`: the text names no local pipe or folder of pipes. `notFound`: no setting names the folder of the pipes.
     * `invalidDescriptor`: the text is no security descriptor, or has a part that this library does not know.
     */
    readonly code: 'invalidName' | 'notFound' | 'invalidDescriptor',
    message: string,
    /** The fault, without quoting the text; undefined when the error is not about a text. */
    readonly found?: string,
  ) {
    super(message);
  }
}
