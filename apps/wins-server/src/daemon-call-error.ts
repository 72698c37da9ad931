/** Error of a command whose daemon did not answer or refused. The message has the finding, and the next step if there is one. */
export class DaemonCallError extends Error {
  override readonly name = 'DaemonCallError';
  readonly exitCode: number;
  readonly found: string;
  readonly nextStep: string | undefined;

  constructor(
    found: string,
    exitCode: number,
    { nextStep, ...options }: ErrorOptions & { readonly nextStep?: string } = {},
  ) {
    super(nextStep === undefined ? found : `${found}; ${nextStep}`, options);
    this.exitCode = exitCode;
    this.found = found;
    this.nextStep = nextStep;
  }
}
