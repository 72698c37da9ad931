import { EXIT } from '@wins/base';

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
