/** A call needs a feature that is off. */
export class FeatureOffError extends Error {
  override readonly name = 'FeatureOffError';
  /** The code of our own in the answer: `agentOff`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
