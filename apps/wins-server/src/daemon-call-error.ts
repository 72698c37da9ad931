/** The daemon that a command asks has not answered, or has refused. The message is what was found, and the next step if there is one. */
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
