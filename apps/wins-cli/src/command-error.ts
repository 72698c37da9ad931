import { EXIT } from '@wins/base';

/** Error that ends a command, with one line for people and an exit code for programs. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: number = EXIT.client.failed,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
