import { EXIT, type CommandSurroundings } from '@wins/base';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';

/** The options of `wins cli prc stop`. */
export interface StopOptions extends DaemonOptions {
  readonly name: string;
  /** Ends it by force at once. */
  readonly now: boolean;
}

/** `wins cli prc stop NAME`: ends a process and its tree, and says how it ended. */
export async function stopProcess(
  options: StopOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const exit = await withDaemon(options, (client) =>
    client.stopProcess({ Value: options.name, RunID: '' }, { force: options.now }),
  );
  const { Code, Signal, Reason } = exit;
  const rows = [[options.name, Signal === '' ? String(Code) : Signal, Reason]];
  await show({
    value: { Name: options.name, Code, Signal, Reason },
    table: { headings: ['NAME', 'EXIT', 'REASON'], rows },
    names: [options.name],
  });
  return EXIT.client.ok;
}
