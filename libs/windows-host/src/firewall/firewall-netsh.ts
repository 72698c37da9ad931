import { formatRanges, type PortSet } from './firewall-ports.js';

/** The arguments for netsh that add rules of one name: one for each protocol that has ports. */
export function netshAddArguments(name: string, ports: PortSet): readonly (readonly string[])[] {
  return (['tcp', 'udp'] as const)
    .filter((protocol) => ports[protocol].length > 0)
    .map((protocol) => [
      ...['advfirewall', 'firewall', 'add', 'rule', `name=${name}`, 'dir=in', 'action=allow'],
      `protocol=${protocol.toUpperCase()}`,
      `localport=${formatRanges(ports[protocol])}`,
    ]);
}

/** The arguments for netsh that delete all rules of one name. */
export function netshDeleteArguments(name: string): readonly string[] {
  return ['advfirewall', 'firewall', 'delete', 'rule', `name=${name}`];
}
