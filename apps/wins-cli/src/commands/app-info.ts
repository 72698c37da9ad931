import { COMMIT, EXIT, VERSION, type CommandSurroundings } from '@wins/base';
import { hashFile } from '@wins/trusted-files';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { omitEmpty } from './host-calls.js';

/** `wins cli app info`: which build the client is and which one the daemon is. */
export async function showInfo(
  options: DaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const server = await withDaemon(options, (client) => client.info());
  const program = process.argv[1] ?? process.execPath;
  const { sha1 } = await hashFile(program, ['sha1'], { followLinks: true });
  const client = { Checksum: sha1, Version: VERSION, Commit: COMMIT };
  const rows = Object.entries({ client, server }).map(([side, info]) => [
    side,
    info.Version,
    info.Commit,
    info.Checksum,
  ]);
  await show({
    value: { Client: omitEmpty(client), Server: omitEmpty(server) },
    isAsOriginal: true,
    table: { headings: ['SIDE', 'VERSION', 'COMMIT', 'CHECKSUM'], rows },
    names: [client.Version, server.Version],
  });
  return EXIT.client.ok;
}
