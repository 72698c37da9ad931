import type { HostClient, NetworkSelector, WinsClient } from '@wins/wins-api';
import { EXIT, quoteText, UsageError, type CommandHandler, type Answer } from '@wins/base';
import { isIP } from 'node:net';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import {
  ADAPTER,
  HNS_NETWORK,
  HOST_VERSION,
  originalJson,
  type OriginalNames,
} from './original-json.js';

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

/** Returns the selector; an empty name or address counts as absent, as in the Go client. */
function choiceOf({ name, address }: ChoiceOptions): NetworkSelector | undefined {
  if (name) return { name };
  return address ? { address } : undefined;
}

/** Returns destinations as networks, because Go daemons accept no single addresses. */
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

/** Defines a command that the Go client has too, with the field names and order of that client. */
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
