/** A text that names no local pipe (`invalidName`), or a bare name where nothing says which folder pipes are in (`notFound`). */
export class PipeNameError extends Error {
  override readonly name = 'PipeNameError';

  constructor(
    readonly code: 'invalidName' | 'notFound',
    message: string,
    /** What is wrong with the name, without the name; undefined when it is no name that was wrong. */
    readonly found?: string,
  ) {
    super(message);
  }
}
