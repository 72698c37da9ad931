/** The daemon that a command asks has not answered, or has refused. */
export class DaemonCallError extends Error {
  override readonly name = 'DaemonCallError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
