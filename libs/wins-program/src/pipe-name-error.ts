/** A text that names no local pipe (`invalidName`), or a bare name where nothing says which folder pipes are in (`notFound`). */
export class PipeNameError extends Error {
  override readonly name = 'PipeNameError';

  constructor(
    readonly code: 'invalidName' | 'notFound',
    message: string,
  ) {
    super(message);
  }
}
