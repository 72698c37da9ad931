import { COMMIT, EXIT, VERSION, type CommandSurroundings } from '@wins/wins-program';
import { createInfoClient, type InfoClient } from '@wins/wins-api/unary';
import { withClients } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { recallDigest } from '../daemon/own-digest.js';
import { transportTo } from '../daemon/transport-to.js';
import { loadCallCommands } from '../load-call-commands.js';

/** `wins cli app info`: which build the client is and which one the daemon is. */
export async function showInfo(
  options: DaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const address = daemonAddress(options);
  const program = process.argv[1] ?? process.execPath;
  const [server, remembered] = await Promise.all([
    withClients(
      address,
      (client: InfoClient) => client.info(),
      (clientOptions) => createInfoClient({ ...clientOptions, transport: transportTo(address) }),
    ),
    // Once the daemon was asked, and before it answers.
    new Promise((resolve) => setImmediate(resolve)).then(() => recallDigest(program)),
  ]);
  // To read it takes longer than an answer may be left waiting.
  const digest = remembered ?? (await loadCallCommands().readDigest(program));
  const client = { Checksum: digest, Version: VERSION, Commit: COMMIT };
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
