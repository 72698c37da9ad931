import { formatAddress, parseNetwork, unroutableReason } from '@wins/base';
import { ElementList, isElementId, type ElementFault } from './element-list.js';
import { followMetadata, type Fields, type MetadataServiceOptions } from './metadata-service.js';
import type { Feed } from './source.js';

/** A port that a container of this host publishes. Whether it gets a relay is decided later. */
export interface DesiredPort {
  /** UUID of the container. */
  readonly id: string;
  readonly proto: 'tcp' | 'udp';
  /** Address of the host: `0.0.0.0:8080`. */
  readonly listen: string;
  readonly to: string;
}

/** Maximum number of ports. The feed sorts them by the UUID of their container, and omits those beyond the limit. */
export const MAX_PORTS = 512;
/** Maximum number of rules of a container. Further ones are omitted. */
const MAX_RULES = 64;
/** A `stopping` container still finishes its requests. */
const STATES: ReadonlySet<unknown> = new Set(['starting', 'running', 'stopping']);
const PORT = '[1-9]\\d{0,4}';
const RULE = new RegExp(`^([\\d.]{7,15}):(${PORT}):(${PORT})(?:/(tcp|udp))?$`);
/** A container port without a host port. */
const NOT_PUBLISHED = new RegExp(`^0\\.0\\.0\\.0:${PORT}(?:/(?:tcp|udp))?$`);
const ANY = '0.0.0.0';

/** Feed of the ports that running containers of this host publish, from Rancher's metadata service. Ignores other hosts and environments. */
export function containerFeed(options: MetadataServiceOptions): Feed<DesiredPort> {
  return followMetadata(options, '/containers', async (pass) => {
    // An element has at least one port, so MAX_PORTS also limits the elements.
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
      // An unreadable rule does not affect other rules.
      for (const fault of new Set(read.filter((one) => typeof one === 'string')))
        list.skip(fault, isElementId(uuid) ? uuid : '');
      if (good.length > 0) list.add(uuid, good);
    });
    const gathered = list.result();
    const items = gathered.items.flat();
    const isLimited = gathered.isLimited || isCut || items.length > MAX_PORTS;
    return { ...gathered, items: items.slice(0, MAX_PORTS), isLimited };
  });
}

/** Undefined for a rule that publishes no port. */
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
    id: String(uuid),
    proto: proto === 'udp' ? 'udp' : 'tcp',
    listen: `${ip}:${from}`,
    to: `${address}:${to}`,
  };
}

/** True for the canonical IPv4 address of a single host. */
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
