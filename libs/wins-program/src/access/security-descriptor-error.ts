/** A text that is no security descriptor, or one that says something not known here. */
export class SecurityDescriptorError extends Error {
  override readonly name = 'SecurityDescriptorError';

  constructor(
    message: string,
    /** The fault alone, without the text. */
    readonly found: string,
  ) {
    super(message);
  }
}
