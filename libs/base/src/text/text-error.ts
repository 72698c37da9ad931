/** A text that cannot be parsed. */
export class TextError extends Error {
  override readonly name = 'TextError';

  constructor(
    /**
     * `invalidName`: not the name of a local pipe, or an unusable path of the folder for sockets. `notFound`: no environment variable
     * has the path of that folder. `invalidDescriptor`: not a security descriptor, or one with an unknown part.
     */
    readonly code: 'invalidName' | 'notFound' | 'invalidDescriptor',
    message: string,
    /** The part of `message` that describes the fault, such as `it is empty`. Does not repeat the whole text. */
    readonly found?: string,
  ) {
    super(message);
  }
}
