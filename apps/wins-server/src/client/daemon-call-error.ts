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
