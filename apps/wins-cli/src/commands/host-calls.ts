import {
  COMMIT,
  EXIT,
  quoteText,
  UsageError,
  VERSION,
  type Answer,
  type CommandHandler,
} from '@wins/base';
import type {
  ApplicationInfo,
  HnsNetwork,
  HnsSubnet,
  HostClient,
  HostVersion,
  NetworkAdapter,
  NetworkSelector,
  WinsClient,
} from '@wins/wins-api';
import { isIP } from 'node:net';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { ownChecksum } from './own-checksum.js';

/** Field names as the Go client prints them, in the order of their protobuf numbers. */
export type OriginalNames<Value> = Readonly<Record<keyof Value, string>>;

export const BUILD: OriginalNames<ApplicationInfo> = {
  checksum: 'Checksum',
  version: 'Version',
  commit: 'Commit',
};

export const HOST_VERSION: OriginalNames<HostVersion> = {
  currentMajorVersionNumber: 'CurrentMajorVersionNumber',
  currentMinorVersionNumber: 'CurrentMinorVersionNumber',
  currentBuildNumber: 'CurrentBuildNumber',
  ubr: 'UBR',
  releaseId: 'ReleaseId',
  buildLabEx: 'BuildLabEx',
  currentBuild: 'CurrentBuild',
};

export const ADAPTER: OriginalNames<NetworkAdapter> = {
  interfaceIndex: 'InterfaceIndex',
  gatewayAddress: 'GatewayAddress',
  subnetCidr: 'SubnetCIDR',
  hostName: 'HostName',
  addressCidr: 'AddressCIDR',
};

export const HNS_NETWORK: OriginalNames<HnsNetwork> = {
  id: 'ID',
  type: 'Type',
  subnets: 'Subnets',
  managementIp: 'ManagementIP',
};

const SUBNET: OriginalNames<HnsSubnet> = {
  addressCidr: 'AddressCIDR',
  gatewayAddress: 'GatewayAddress',
};

/** Returns the JSON of the Go client, because scripts parse it. Omits empty fields. */
export function originalJson<Value extends object>(
  names: OriginalNames<Value>,
  value: Value,
): object {
  const fields = Object.entries<string>(names)
    .map(([key, name]) => [name, value[key as keyof Value]] as const)
    .filter(([, field]) => (field as string | readonly object[]).length > 0)
    .map(([name, field]) => [
      name,
      Array.isArray(field) ? field.map((subnet) => originalJson(SUBNET, subnet)) : field,
    ]);
  return Object.fromEntries(fields) as object;
}

export interface InfoOptions extends DaemonOptions {
  readonly output?: string | undefined;
}

export async function showInfo(options: InfoOptions): Promise<Answer> {
  const server = await withDaemon(options, (client) => client.info());
  // The names have no checksum.
  const checksum = options.output === 'name' ? '' : await ownChecksum();
  const client = { checksum, version: VERSION, commit: COMMIT };
  const rows = Object.entries({ client, server }).map(([side, info]) => [
    side,
    info.version,
    info.commit,
    info.checksum,
  ]);
  return {
    value: { Client: originalJson(BUILD, client), Server: originalJson(BUILD, server) },
    isAsOriginal: true,
    table: { headings: ['SIDE', 'VERSION', 'COMMIT', 'CHECKSUM'], rows, drops: ['CHECKSUM'] },
    names: [client.version, server.version],
  };
}

export interface ChoiceOptions extends DaemonOptions {
  readonly name?: string | undefined;
  readonly address?: string | undefined;
}

export interface RouteOptions extends DaemonOptions {
  readonly addresses: string;
}

export const showVersion = showing(HOST_VERSION, 'buildLabEx', (client) => client.host.version());

export const showAdapter = showing(ADAPTER, 'interfaceIndex', (client, options: ChoiceOptions) =>
  client.host.adapter(choiceOf(options)),
);

export const showHnsNetwork = showing(HNS_NETWORK, 'id', (client, options: ChoiceOptions) => {
  const which = choiceOf(options);
  if (which === undefined)
    throw new UsageError('the network is missing: wanted --name or --address');
  return client.host.hnsNetwork(which);
});

export const addRoutes = changingRoutes((host, destinations) => host.addRoutes(destinations));

export const removeRoutes = changingRoutes((host, destinations) => host.removeRoutes(destinations));

export async function listRoutes(options: DaemonOptions): Promise<Answer> {
  const value = await withDaemon(options, (client) => client.host.routes());
  return {
    value,
    table: {
      headings: ['DESTINATION', 'GATEWAY', 'INTERFACE', 'METRIC'],
      rows: value.map((route) => Object.values(route).map(String)),
    },
    names: value.map(({ destinationCidr }) => destinationCidr),
  };
}

/** An empty name or address counts as absent, as in the Go client. */
function choiceOf({ name, address }: ChoiceOptions): NetworkSelector | undefined {
  if (name) return { name };
  return address ? { address } : undefined;
}

/** Returns networks, because Go daemons accept no single addresses. */
function destinationsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0)
    throw new UsageError('--addresses is empty; wanted addresses such as "8.8.8.8 2001:db8::1"');
  return words.map((word) => {
    const slash = word.indexOf('/');
    const version = isIP(slash < 0 ? word : word.slice(0, slash));
    if (version === 0) throw new UsageError(`--addresses: ${quoteText(word)} is not an IP address`);
    return slash < 0 ? `${word}/${version === 4 ? 32 : 128}` : word;
  });
}

function showing<Message extends object, Options extends DaemonOptions = DaemonOptions>(
  names: OriginalNames<Message>,
  name: keyof Message,
  ask: (client: WinsClient, options: Options) => Promise<Message>,
): CommandHandler<Options, Answer> {
  return async (options) => {
    const message = await withDaemon(options, (client) => ask(client, options));
    const rows = Object.entries<string>(names).map(([field, original]) => {
      const value: unknown = message[field as keyof Message];
      const shown = Array.isArray(value)
        ? value.map((part: object) => Object.values(part).join(' via ')).join(', ')
        : String(value);
      return [original, shown];
    });
    return {
      value: originalJson(names, message),
      isAsOriginal: true,
      table: { headings: ['FIELD', 'VALUE'], rows },
      names: [String(message[name])],
    };
  };
}

function changingRoutes(
  change: (host: HostClient, destinations: readonly string[]) => Promise<void>,
): CommandHandler<RouteOptions> {
  return async (options) => {
    const destinations = destinationsOf(options.addresses);
    await withDaemon(options, ({ host }) => change(host, destinations));
    return EXIT.client.ok;
  };
}
