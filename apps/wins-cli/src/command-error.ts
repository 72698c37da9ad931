import { EXIT } from '@wins/base';

/** A command that cannot go on: one line for people and the exit code for programs. */
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
