import { RunExposeProtocol, type ProcessSummary } from '@wins/wins-api';
import { EXIT } from '@wins/wins-program';
import { withDaemon } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { formatTable, writeAll, writeJson } from '../output.js';

interface ListOptions extends DaemonOptions {
  readonly output: 'json' | 'table';
}

function exposesOf(process: ProcessSummary): string[] {
  return process.Exposes.map(
    ({ Port, Protocol }) => `${Protocol === RunExposeProtocol.UDP ? 'UDP' : 'TCP'}:${Port}`,
  );
}

/** `wins cli prc ls`: the processes that the daemon runs now. */
export async function listProcesses(options: ListOptions): Promise<number> {
  const processes = await withDaemon(daemonAddress(options), (client) => client.listProcesses());
  if (options.output === 'table') {
    const rows = processes.map((process) => [
      process.Name?.Value ?? '',
      String(process.PID),
      process.State,
      new Date(Number(process.StartedAtMs)).toISOString(),
      exposesOf(process).join(' '),
      process.Path,
    ]);
    const table = formatTable(['NAME', 'PID', 'STATE', 'STARTED', 'EXPOSES', 'PATH'], rows);
    await writeAll(process.stdout, Buffer.from(table));
  } else {
    await writeJson(
      processes.map((process) => ({
        Name: process.Name?.Value ?? '',
        Path: process.Path,
        State: process.State,
        PID: process.PID,
        StartedAt: new Date(Number(process.StartedAtMs)).toISOString(),
        Exposes: exposesOf(process),
        DigestSHA256: process.DigestSHA256,
      })),
    );
  }
  return EXIT.client.ok;
}
