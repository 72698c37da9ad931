import { COMMIT, EXIT, VERSION } from '@wins/wins-program';
import { withDaemon } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { ownDigest } from '../daemon/own-digest.js';
import { formatTable, writeAll, writeJson } from '../output.js';

interface InfoOptions extends DaemonOptions {
  readonly output: 'json' | 'table';
}

/** `wins cli app info`: which build the client is and which one the daemon is. */
export async function showInfo(options: InfoOptions): Promise<number> {
  const server = await withDaemon(daemonAddress(options), (client) => client.info());
  const program = process.argv[1] ?? process.execPath;
  const client = { Checksum: await ownDigest(program), Version: VERSION, Commit: COMMIT };
  if (options.output === 'table') {
    const rows = Object.entries({ client, server }).map(([side, info]) => [
      side,
      info.Version,
      info.Commit,
      info.Checksum,
    ]);
    const table = formatTable(['SIDE', 'VERSION', 'COMMIT', 'CHECKSUM'], rows);
    await writeAll(process.stdout, Buffer.from(table));
  } else {
    await writeJson({ Client: omitEmpty(client), Server: omitEmpty(server) });
  }
  return EXIT.client.ok;
}

/** The Go client leaves out empty fields and writes the others in the order of their numbers. */
function omitEmpty({
  Checksum,
  Version,
  Commit,
}: Record<'Checksum' | 'Version' | 'Commit', string>) {
  return Object.fromEntries(
    Object.entries({ Checksum, Version, Commit }).filter(([, value]) => value !== ''),
  );
}
