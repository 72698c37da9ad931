import type { ProcessSummary } from '@wins/wins-api';
import { RunExposeProtocol } from '@wins/wins-api/unary';
import { EXIT, type CommandSurroundings } from '@wins/wins-program';
import { withDaemon } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';

function exposesOf(process: ProcessSummary): string[] {
  return process.Exposes.map(
    ({ Port, Protocol }) => `${Protocol === RunExposeProtocol.UDP ? 'UDP' : 'TCP'}:${Port}`,
  );
}

/** `wins cli prc ls`: the processes that the daemon runs now. */
export async function listProcesses(
  options: DaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const processes = await withDaemon(daemonAddress(options), (client) => client.listProcesses());
  const rows = processes.map((process) => [
    process.Name?.Value ?? '',
    String(process.PID),
    process.State,
    new Date(Number(process.StartedAtMs)).toISOString(),
    exposesOf(process).join(' '),
    process.Path,
  ]);
  await show({
    value: processes.map((process) => ({
      Name: process.Name?.Value ?? '',
      Path: process.Path,
      State: process.State,
      PID: process.PID,
      StartedAt: new Date(Number(process.StartedAtMs)).toISOString(),
      Exposes: exposesOf(process),
      DigestSHA256: process.DigestSHA256,
    })),
    table: { headings: ['NAME', 'PID', 'STATE', 'STARTED', 'EXPOSES', 'PATH'], rows },
    names: processes.map(({ Name }) => Name?.Value ?? ''),
  });
  return EXIT.client.ok;
}
