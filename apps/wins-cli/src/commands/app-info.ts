import { COMMIT, VERSION, type Answer } from '@wins/base';
import { hashFile } from '@wins/trusted-files';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { BUILD, originalJson } from './original-json.js';

export async function showInfo(options: DaemonOptions): Promise<Answer> {
  const server = await withDaemon(options, (client) => client.info());
  const program = process.argv[1] ?? process.execPath;
  const { sha1 } = await hashFile(program, ['sha1'], { followLinks: true });
  const client = { checksum: sha1, version: VERSION, commit: COMMIT };
  const rows = Object.entries({ client, server }).map(([side, info]) => [
    side,
    info.version,
    info.commit,
    info.checksum,
  ]);
  return {
    value: { Client: originalJson(BUILD, client), Server: originalJson(BUILD, server) },
    isAsOriginal: true,
    table: { headings: ['SIDE', 'VERSION', 'COMMIT', 'CHECKSUM'], rows },
    names: [client.version, server.version],
  };
}
