import { COMMIT, EXIT, VERSION, type CommandSurroundings } from '@wins/wins-program';
import { createInfoClient, type InfoClient } from '@wins/wins-api/unary';
import { withClients } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { ownDigest } from '../daemon/own-digest.js';
import { transportTo } from '../daemon/transport-to.js';

/** `wins cli app info`: which build the client is and which one the daemon is. */
export async function showInfo(
  options: DaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const address = daemonAddress(options);
  const server = await withClients(
    address,
    (client: InfoClient) => client.info(),
    (clientOptions) => createInfoClient({ ...clientOptions, transport: transportTo(address) }),
  );
  const program = process.argv[1] ?? process.execPath;
  const client = { Checksum: await ownDigest(program), Version: VERSION, Commit: COMMIT };
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
