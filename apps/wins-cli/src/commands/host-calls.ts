import type { NameOrAddress } from '@wins/wins-api';
import { EXIT, quoteText } from '@wins/wins-program';
import { isIP } from 'node:net';
import { CommandError } from '../command-error.js';
import { withDaemon } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { formatTable, writeAll, writeJson } from '../output.js';

interface ShowOptions extends DaemonOptions {
  readonly output: 'json' | 'table';
}

interface ChoiceOptions extends ShowOptions {
  readonly name?: string | undefined;
  readonly address?: string | undefined;
}

interface RouteOptions extends DaemonOptions {
  readonly addresses: string;
}

/** `wins cli hst get-version`: which release of the system the host has. */
export async function showVersion(options: ShowOptions): Promise<number> {
  const version = await withDaemon(daemonAddress(options), (client) => client.host.version());
  // Spelt out, because the Go client writes fields in the order of their numbers.
  return show(options, {
    CurrentMajorVersionNumber: version.CurrentMajorVersionNumber,
    CurrentMinorVersionNumber: version.CurrentMinorVersionNumber,
    CurrentBuildNumber: version.CurrentBuildNumber,
    UBR: version.UBR,
    ReleaseId: version.ReleaseId,
    BuildLabEx: version.BuildLabEx,
    CurrentBuild: version.CurrentBuild,
  });
}

/** `wins cli net get`: one network adapter. */
export async function showAdapter(options: ChoiceOptions): Promise<number> {
  const which = choiceOf(options);
  const adapter = await withDaemon(daemonAddress(options), (client) => client.host.adapter(which));
  return show(options, {
    InterfaceIndex: adapter.InterfaceIndex,
    GatewayAddress: adapter.GatewayAddress,
    SubnetCIDR: adapter.SubnetCIDR,
    HostName: adapter.HostName,
    AddressCIDR: adapter.AddressCIDR,
  });
}

/** `wins cli hns get-network`: one network of the Host Networking Service. */
export async function showHnsNetwork(options: ChoiceOptions): Promise<number> {
  const which = choiceOf(options);
  if (which === undefined) throw new CommandError('which network? wanted --name or --address');
  const network = await withDaemon(daemonAddress(options), (client) =>
    client.host.hnsNetwork(which),
  );
  return show(options, {
    ID: network.ID,
    Type: network.Type,
    Subnets: network.Subnets.map(({ AddressCIDR, GatewayAddress }) =>
      omitEmpty({ AddressCIDR, GatewayAddress }),
    ),
    ManagementIP: network.ManagementIP,
  });
}

/** `wins cli route add`: leads addresses through the gateway of the default adapter. */
export async function addRoutes(options: RouteOptions): Promise<number> {
  const destinations = destinationsOf(options.addresses);
  await withDaemon(daemonAddress(options), (client) => client.host.addRoutes(destinations));
  return EXIT.client.ok;
}

/** `wins cli route rm`: takes away what `route add` made. */
export async function removeRoutes(options: RouteOptions): Promise<number> {
  const destinations = destinationsOf(options.addresses);
  await withDaemon(daemonAddress(options), (client) => client.host.removeRoutes(destinations));
  return EXIT.client.ok;
}

/** `wins cli route ls`: the routing table. */
export async function listRoutes(options: ShowOptions): Promise<number> {
  const routes = await withDaemon(daemonAddress(options), (client) => client.host.routes());
  if (options.output === 'json') {
    await writeJson(
      routes.map(({ DestinationCIDR, Gateway, InterfaceIndex, Metric }) => ({
        DestinationCIDR,
        Gateway,
        InterfaceIndex,
        Metric,
      })),
    );
    return EXIT.client.ok;
  }
  const rows = routes.map(({ DestinationCIDR, Gateway, InterfaceIndex, Metric }) => [
    DestinationCIDR,
    Gateway,
    String(InterfaceIndex),
    String(Metric),
  ]);
  const table = formatTable(['DESTINATION', 'GATEWAY', 'INTERFACE', 'METRIC'], rows);
  await writeAll(process.stdout, Buffer.from(table));
  return EXIT.client.ok;
}

/** An empty text counts as none, as with the Go client. */
function choiceOf({ name, address }: ChoiceOptions): NameOrAddress | undefined {
  if (name && address) throw new CommandError('choose by --name or by --address, not by both');
  if (name) return { name };
  return address ? { address } : undefined;
}

/** Go daemons take networks alone, so an address becomes a network of one. */
function destinationsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) {
    throw new CommandError('--addresses is empty; wanted for example "8.8.8.8 2001:db8::1"');
  }
  return words.map((word) => {
    const slash = word.indexOf('/');
    const version = isIP(slash < 0 ? word : word.slice(0, slash));
    if (version === 0) {
      throw new CommandError(`--addresses: ${quoteText(word)} is not an IP address`);
    }
    return slash < 0 ? `${word}/${version === 4 ? 32 : 128}` : word;
  });
}

type Fields = Readonly<Record<string, string | readonly object[]>>;

async function show({ output }: ShowOptions, answer: Fields): Promise<number> {
  if (output === 'json') {
    await writeJson(omitEmpty(answer));
    return EXIT.client.ok;
  }
  const rows = Object.entries(answer).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.map(describe).join(', '),
  ]);
  await writeAll(process.stdout, Buffer.from(formatTable(['FIELD', 'VALUE'], rows)));
  return EXIT.client.ok;
}

function describe(part: object): string {
  return Object.values(part).join(' via ');
}

/** The Go client leaves out empty fields. */
function omitEmpty<T extends Fields>(fields: T): Partial<T> {
  const filled = Object.entries(fields).filter(([, value]) => value.length > 0);
  return Object.fromEntries(filled) as Partial<T>;
}
