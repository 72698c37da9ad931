import type { PortRange } from './firewall-ports.js';

/** A rule of the firewall, as far as it matters whether it opens ports to programs of this host. */
export interface FirewallRule {
  readonly name: string;
  /** It is switched on and lets in what comes in. */
  readonly opens: boolean;
  /** 6 is TCP, 17 UDP; undefined for any. */
  readonly protocol: number | undefined;
  /** Local ports; undefined for any, or for such as are named in words. */
  readonly ports: readonly PortRange[] | undefined;
}

const OPENING: ReadonlyMap<string, string> = new Map([
  ['Action', 'Allow'],
  ['Active', 'TRUE'],
  ['Dir', 'In'],
]);

/**
 * Reads the text under which the registry keeps a rule: `v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=80|Name=…|`.
 * https://learn.microsoft.com/openspecs/windows_protocols/ms-gpfas
 *
 * @returns undefined for what is no rule, or one without a name.
 */
export function parseFirewallRule(text: string): FirewallRule | undefined {
  const [version = '', ...parts] = text.split('|');
  if (!/^v\d+\.\d+$/.test(version)) return undefined;
  const fields = parts.filter((part) => part !== '').map(fieldOf);
  const only = (name: string): string | undefined => fields.find(([key]) => key === name)?.[1];

  const name = only('Name');
  if (name === undefined) return undefined;
  const protocol = Number(only('Protocol') ?? Number.NaN);
  const ports = fields.filter(([key]) => key === 'LPort' || key === 'LPort2_10').map(rangeOf);
  const isWhole = ports.every((range) => range !== undefined);
  return {
    name,
    opens: [...OPENING].every(([key, value]) => only(key) === value),
    protocol: Number.isNaN(protocol) ? undefined : protocol,
    ports: ports.length > 0 && isWhole ? ports : undefined,
  };
}

function fieldOf(part: string): readonly [string, string] {
  const end = part.indexOf('=');
  return end === -1 ? [part, ''] : [part.slice(0, end), part.slice(end + 1)];
}

function rangeOf([, value]: readonly [string, string]): PortRange | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(value) ?? [];
  return first === undefined ? undefined : { first: Number(first), last: Number(last) };
}
