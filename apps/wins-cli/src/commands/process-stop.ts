import { EXIT, type CommandSurroundings } from '@wins/base';
import { CommandError } from '../command-error.js';
import {
  withDaemonOfRun,
  withDaemonOfAdministrators,
  type DaemonOptions,
} from '../daemon/connect-daemon.js';
import { forEachName } from './for-each-name.js';

const WHO_MAY = 'omit --now, or run this as an administrator of the host';

export interface StopOptions extends DaemonOptions {
  readonly names: readonly string[];
  readonly now: boolean;
}

/** Shows how the runs ended, also if one of them cannot be stopped. */
export async function stopProcesses(
  options: StopOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const ended: Awaited<ReturnType<typeof stopProcess>>[] = [];
  try {
    await forEachName(options.names, async (name) => {
      ended.push(await stopProcess(name, options));
    });
  } finally {
    if (ended.length > 0)
      await show({
        value: options.names.length === 1 ? ended[0] : ended,
        table: {
          headings: ['NAME', 'EXIT', 'REASON'],
          rows: ended.map(({ name, signal, exitCode, reason }) => [
            name,
            signal ?? String(exitCode),
            reason,
          ]),
        },
        names: ended.map(({ name }) => name),
      });
  }
  return EXIT.client.ok;
}

async function stopProcess(name: string, options: StopOptions) {
  const ask = options.now ? withDaemonOfAdministrators : withDaemonOfRun;
  const exit = await ask(options, (client) => client.runs.stop(name, { force: options.now })).catch(
    (error: unknown) => {
      const { refused } = EXIT.client;
      if (!options.now || !(error instanceof CommandError) || error.exitCode !== refused)
        throw error;
      throw new CommandError(`${error.message}; ${WHO_MAY}`, refused, { cause: error });
    },
  );
  return { name, ...exit };
}
