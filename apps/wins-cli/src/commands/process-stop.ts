import { EXIT, type Answer } from '@wins/base';
import { CommandError } from '../command-error.js';
import {
  withDaemon,
  withDaemonOfAdministrators,
  type DaemonOptions,
} from '../daemon/connect-daemon.js';

const WHO_MAY = 'omit --now, or run this as an administrator of the host';

export interface StopOptions extends DaemonOptions {
  readonly name: string;
  readonly now: boolean;
}

export async function stopProcess(options: StopOptions): Promise<Answer> {
  const ask = options.now ? withDaemonOfAdministrators : withDaemon;
  const exit = await ask(options, (client) =>
    client.stopProcess(options.name, { force: options.now }),
  ).catch((error: unknown) => {
    const { refused } = EXIT.client;
    if (!options.now || !(error instanceof CommandError) || error.exitCode !== refused) throw error;
    throw new CommandError(`${error.message}; ${WHO_MAY}`, refused, { cause: error });
  });
  const rows = [[options.name, exit.signal ?? String(exit.exitCode), exit.reason]];
  return {
    value: { name: options.name, ...exit },
    table: { headings: ['NAME', 'EXIT', 'REASON'], rows },
    names: [options.name],
  };
}
