import { formatAddress, parseNetwork, unroutableReason } from '@wins/base';
import { ElementList, isElementId, type ElementFault, type Gathered } from './element-list.js';
import { followMetadata, type Fields, type MetadataServiceOptions } from './metadata-service.js';
import type { Feed } from './source.js';

/** A port that a container of this host wants to be published. Whether it may be is judged later. */
export interface DesiredPort {
  /** The uuid of the container. */
  readonly id: string;
  readonly proto: 'tcp' | 'udp';
  /** Where the host is to listen: `0.0.0.0:8080`. */
  readonly listen: string;
  /** The address and the port of the container. */
  readonly to: string;
}

/** Ports beyond so many are left out, those of the containers with the last uuids. */
export const MAX_PORTS = 512;
/** Rules of a container beyond so many are left out. */
const MAX_RULES = 64;
/** A container that is being stopped serves what it has begun. */
const STATES: ReadonlySet<unknown> = new Set(['starting', 'running', 'stopping']);
const PORT = '[1-9]\\d{0,4}';
const RULE = new RegExp(`^([\\d.]{7,15}):(${PORT}):(${PORT})(?:/(tcp|udp))?$`);
/** A port of the container that asks for none of the host. */
const NOT_PUBLISHED = new RegExp(`^0\\.0\\.0\\.0:${PORT}(?:/(?:tcp|udp))?$`);
const ANY = '0.0.0.0';

/**
 * The ports that containers of this host publish, as Rancher's metadata service knows them. A container that has stopped publishes none;
 * those of other hosts and environments count for nothing.
 */
export function containerFeed(options: MetadataServiceOptions): Feed<DesiredPort> {
  return followMetadata(options, '/containers', async (pass) => {
    // Each of them has one port or more.
    const list = new ElementList<readonly DesiredPort[]>(MAX_PORTS);
    let isCut = false;
    await pass((container) => {
      if (container === undefined) {
        list.skip('badElement');
        return;
      }
      const { uuid, ports, state } = container;
      const isOurs =
        container['host_uuid'] === options.hostUuid &&
        container['environment_uuid'] === options.environmentUuid;
      if (!isOurs || !STATES.has(state) || ports === null || ports === undefined) return;
      const rules: readonly unknown[] = Array.isArray(ports) ? ports : [ports];
      isCut ||= rules.length > MAX_RULES;
      const read = rules.slice(0, MAX_RULES).flatMap((rule) => readRule(rule, container) ?? []);
      const good = read.filter((one) => typeof one === 'object');
      // One that cannot be read costs its container no other.
      for (const fault of new Set(read.filter((one) => typeof one === 'string')))
        list.skip(fault, isElementId(uuid) ? uuid : '');
      if (good.length > 0) list.add(uuid, good);
    });
    return limited(list.result(), isCut);
  });
}

/** Reads a rule; undefined for one that publishes nothing. */
function readRule(
  rule: unknown,
  { uuid, primary_ip: address }: Fields,
): DesiredPort | ElementFault | undefined {
  const text = typeof rule === 'string' ? rule : '';
  if (NOT_PUBLISHED.test(text)) return undefined;
  const [, ip = '', from = '', to = '', proto = 'tcp'] = RULE.exec(text) ?? [];
  const isRule = (ip === ANY || isHost(ip)) && isPort(from) && isPort(to);
  if (!isRule) return 'badPort';
  if (typeof address !== 'string' || !isHost(address)) return 'badAddress';
  return {
    ...{ id: String(uuid), proto: proto === 'udp' ? 'udp' : 'tcp' },
    ...{ listen: `${ip}:${from}`, to: `${address}:${to}` },
  };
}

function limited(
  gathered: Gathered<readonly DesiredPort[]>,
  isCut: boolean,
): Gathered<DesiredPort> {
  const items = gathered.items.flat();
  const isLimited = gathered.isLimited || isCut || items.length > MAX_PORTS;
  return { ...gathered, items: items.slice(0, MAX_PORTS), isLimited };
}

/** Whether a text is the address of IPv4 of one host, in canonical form. */
function isHost(text: string): boolean {
  const network = parseNetwork(text);
  return (
    network?.bytes.length === 4 &&
    formatAddress(network.bytes) === text &&
    unroutableReason(network) === undefined
  );
}

function isPort(text: string): boolean {
  return text !== '' && Number(text) < 2 ** 16;
}
