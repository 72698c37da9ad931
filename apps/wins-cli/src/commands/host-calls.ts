import type { NetworkSelector } from '@wins/wins-api';
import { EXIT, quoteText, UsageError, type CommandSurroundings } from '@wins/wins-program';
import { isIP } from 'node:net';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';

export interface ChoiceOptions extends DaemonOptions {
  readonly name?: string | undefined;
  readonly address?: string | undefined;
}

export interface RouteOptions extends DaemonOptions {
  readonly addresses: string;
}

/** `wins cli hst get-version`: which release of the system the host has. */
export async function showVersion(
  options: DaemonOptions,
  surroundings: CommandSurroundings,
): Promise<number> {
  const version = await withDaemon(options, (client) => client.host.version());
  // Spelt out, because the Go client writes fields in the order of their numbers.
  return describe(surroundings, version.BuildLabEx, {
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
export async function showAdapter(
  options: ChoiceOptions,
  surroundings: CommandSurroundings,
): Promise<number> {
  const which = choiceOf(options);
  const adapter = await withDaemon(options, (client) => client.host.adapter(which));
  return describe(surroundings, adapter.InterfaceIndex, {
    InterfaceIndex: adapter.InterfaceIndex,
    GatewayAddress: adapter.GatewayAddress,
    SubnetCIDR: adapter.SubnetCIDR,
    HostName: adapter.HostName,
    AddressCIDR: adapter.AddressCIDR,
  });
}

/** `wins cli hns get-network`: one network of the Host Networking Service. */
export async function showHnsNetwork(
  options: ChoiceOptions,
  surroundings: CommandSurroundings,
): Promise<number> {
  const which = choiceOf(options);
  if (which === undefined) throw new UsageError('which network? wanted --name or --address');
  const network = await withDaemon(options, (client) => client.host.hnsNetwork(which));
  return describe(surroundings, network.ID, {
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
  await withDaemon(options, (client) => client.host.addRoutes(destinations));
  return EXIT.client.ok;
}

/** `wins cli route rm`: takes away what `route add` made. */
export async function removeRoutes(options: RouteOptions): Promise<number> {
  const destinations = destinationsOf(options.addresses);
  await withDaemon(options, (client) => client.host.removeRoutes(destinations));
  return EXIT.client.ok;
}

/** `wins cli route ls`: the routing table. */
export async function listRoutes(
  options: DaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const routes = await withDaemon(options, (client) => client.host.routes());
  const value = routes.map(({ DestinationCIDR, Gateway, InterfaceIndex, Metric }) => ({
    DestinationCIDR,
    Gateway,
    InterfaceIndex,
    Metric,
  }));
  await show({
    value,
    table: {
      headings: ['DESTINATION', 'GATEWAY', 'INTERFACE', 'METRIC'],
      rows: value.map((route) => Object.values(route).map(String)),
    },
    names: value.map(({ DestinationCIDR }) => DestinationCIDR),
  });
  return EXIT.client.ok;
}

/** An empty text counts as none, as with the Go client. */
function choiceOf({ name, address }: ChoiceOptions): NetworkSelector | undefined {
  if (name) return { name };
  return address ? { address } : undefined;
}

/** Go daemons take networks alone, so an address becomes a network of one. */
function destinationsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) {
    throw new UsageError('--addresses is empty; wanted for example "8.8.8.8 2001:db8::1"');
  }
  return words.map((word) => {
    const slash = word.indexOf('/');
    const version = isIP(slash < 0 ? word : word.slice(0, slash));
    if (version === 0) {
      throw new UsageError(`--addresses: ${quoteText(word)} is not an IP address`);
    }
    return slash < 0 ? `${word}/${version === 4 ? 32 : 128}` : word;
  });
}

type Fields = Readonly<Record<string, string | readonly object[]>>;

async function describe(
  { show }: CommandSurroundings,
  name: string,
  answer: Fields,
): Promise<number> {
  const rows = Object.entries(answer).map(([field, value]) => [
    field,
    typeof value === 'string' ? value : value.map(describePart).join(', '),
  ]);
  await show({
    value: omitEmpty(answer),
    isAsOriginal: true,
    table: { headings: ['FIELD', 'VALUE'], rows },
    names: [name],
  });
  return EXIT.client.ok;
}

function describePart(part: object): string {
  return Object.values(part).join(' via ');
}

/** The Go client leaves out empty fields. */
function omitEmpty<T extends Fields>(fields: T): Partial<T> {
  const filled = Object.entries(fields).filter(([, value]) => value.length > 0);
  return Object.fromEntries(filled) as Partial<T>;
}
