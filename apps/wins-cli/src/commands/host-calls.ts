import type { NetworkSelector } from '@wins/wins-api';
import {
  EXIT,
  quoteText,
  UsageError,
  type Answer,
  type CommandSurroundings,
} from '@wins/wins-program';
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
  { show }: CommandSurroundings,
): Promise<number> {
  const version = await withDaemon(options, (client) => client.host.version());
  await show(answerOf(version.BuildLabEx, version));
  return EXIT.client.ok;
}

/** `wins cli net get`: one network adapter. */
export async function showAdapter(
  options: ChoiceOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const which = choiceOf(options);
  const adapter = await withDaemon(options, (client) => client.host.adapter(which));
  await show(answerOf(adapter.InterfaceIndex, adapter));
  return EXIT.client.ok;
}

/** `wins cli hns get-network`: one network of the Host Networking Service. */
export async function showHnsNetwork(
  options: ChoiceOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const which = choiceOf(options);
  if (which === undefined) throw new UsageError('which network? wanted --name or --address');
  const network = await withDaemon(options, (client) => client.host.hnsNetwork(which));
  await show(answerOf(network.ID, { ...network, Subnets: network.Subnets.map(omitEmpty) }));
  return EXIT.client.ok;
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
  const value = await withDaemon(options, (client) => client.host.routes());
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

/** A message, whose fields are in the order of their numbers, in which the Go client writes them. */
function answerOf(name: string, message: object): Answer {
  const rows = Object.entries(message).map(([field, value]) => [
    field,
    Array.isArray(value)
      ? value.map((part: object) => Object.values(part).join(' via ')).join(', ')
      : String(value),
  ]);
  return {
    value: omitEmpty(message),
    isAsOriginal: true,
    table: { headings: ['FIELD', 'VALUE'], rows },
    names: [name],
  };
}

/** The Go client leaves out empty fields. */
export function omitEmpty<Message extends object>(message: Message): Partial<Message> {
  const filled = Object.entries(message).filter(([, value]) => (value as string).length > 0);
  return Object.fromEntries(filled) as Partial<Message>;
}
