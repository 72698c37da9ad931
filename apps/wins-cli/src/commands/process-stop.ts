import { EXIT } from '@wins/wins-program';
import { withDaemon } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { formatTable, writeAll, writeJson } from '../output.js';

interface StopOptions extends DaemonOptions {
  readonly output: 'json' | 'table';
  readonly name: string;
}

/** `wins cli prc stop NAME`: ends a process and its tree, and says how it ended. */
export async function stopProcess(options: StopOptions): Promise<number> {
  const exit = await withDaemon(daemonAddress(options), (client) =>
    client.stopProcess({ Value: options.name, RunID: '' }),
  );
  if (options.output === 'table') {
    const rows = [
      [options.name, exit.Signal === '' ? String(exit.Code) : exit.Signal, exit.Reason],
    ];
    await writeAll(process.stdout, Buffer.from(formatTable(['NAME', 'EXIT', 'REASON'], rows)));
  } else {
    await writeJson({
      Name: options.name,
      Code: exit.Code,
      Signal: exit.Signal,
      Reason: exit.Reason,
    });
  }
  return EXIT.client.ok;
}
