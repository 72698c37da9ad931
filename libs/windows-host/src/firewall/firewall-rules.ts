import type { Abortable } from 'node:events';
import { type ExposedPort, quoteText, type PortOpener } from '@wins/base';
import { WindowsError } from '../windows-error.js';
import { setTimeout as delay } from 'node:timers/promises';
import { RegistryKey } from '../registry/registry.js';
import { runSystemProgram } from '../processes/system-program.js';

interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Sorted, disjoint port ranges of each protocol. */
type PortSet = Readonly<Record<'tcp' | 'udp', readonly PortRange[]>>;

// Limits the ranges of a protocol, so that a rule is readable and fits into a command line.
const MAX_RANGES = 256;

/** @throws WindowsError `invalidArgument` for an invalid port or too many ranges. */
export function portSet(ports: readonly ExposedPort[]): PortSet {
  const set = { tcp: new Set<number>(), udp: new Set<number>() };
  for (const { protocol, port } of ports) {
    const known = Object.hasOwn(set, protocol);
    if (known && Number.isInteger(port) && port >= 1 && port <= 65_535) set[protocol].add(port);
    else throw refused(JSON.stringify({ protocol, port }), 'tcp or udp and a port from 1 to 65535');
  }
  return { tcp: ranges(set.tcp), udp: ranges(set.udp) };
}

function joinRanges(all: readonly PortRange[]): readonly PortRange[] {
  const joined: PortRange[] = [];
  for (const { first, last } of all.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1);
    if (before === undefined || first > before.last + 1) joined.push({ first, last });
    else joined[joined.length - 1] = { ...before, last: Math.max(before.last, last) };
  }
  return joined;
}

/** Formats ranges as `80,443,8000-8010`. */
export function formatRanges(all: readonly PortRange[]): string {
  return all.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

function ranges(ports: ReadonlySet<number>): readonly PortRange[] {
  const joined = joinRanges([...ports].map((port) => ({ first: port, last: port })));
  if (joined.length <= MAX_RANGES) return joined;
  throw refused(`${joined.length} ranges of ports`, `at most ${MAX_RANGES} of a protocol`);
}

function refused(found: string, wanted: string): WindowsError {
  const message = `cannot open ports of the firewall: found ${found}; wanted ${wanted}`;
  return new WindowsError('invalidArgument', message);
}

/** Parts of a firewall rule that decide whether it opens ports. */
interface FirewallRule {
  readonly name: string;
  /** True when the rule is enabled and allows inbound traffic. */
  readonly opens: boolean;
  /** 6 is TCP, 17 UDP; undefined for any. */
  readonly protocol: number | undefined;
  /** Local ports; undefined for any, or for ports given as keywords. */
  readonly ports: readonly PortRange[] | undefined;
}

const OPENING = { Action: 'Allow', Active: 'TRUE', Dir: 'In' };

/**
 * Parses the registry's format, `v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=80|Name=…|`.
 * Returns undefined for other text.
 * https://learn.microsoft.com/openspecs/windows_protocols/ms-gpfas
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
    opens: Object.entries(OPENING).every(([key, value]) => only(key) === value),
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

/**
 * Firewall rules for the ports of runs. All rules of a run share the name `rancher-wins-<the run's mark>`, which
 * identifies them in any display language of Windows.
 */
export interface FirewallRules extends PortOpener {
  /**
   * Opens exactly these ports, for all remote addresses, and verifies the rules. An empty list is not an error.
   *
   * @throws WindowsError `invalidArgument`, `unavailable`, `timeout`, `notVerified`, `unknown`; the signal's reason.
   */
  open(mark: string, ports: readonly ExposedPort[], options?: Abortable): Promise<void>;
  /**
   * Removes the rules that dead daemons left: those of all runs not in `liveMarks`. Returns the marks of those runs.
   * Does not remove rules that new runs add during the call.
   *
   * @throws WindowsError as `open` does. Tries to remove all rules before it throws the first failure.
   */
  sweep(liveMarks: readonly string[]): Promise<readonly string[]>;
  list(): readonly RunOpening[];
}

/** Traffic that the firewall lets through for one run. */
export interface RunOpening {
  readonly mark: string;
  /** One text for each rule, such as `tcp 80,443`; `any` for a rule that names no ports. */
  readonly rules: readonly string[];
}

/** Access to the Windows Firewall, which specs replace. */
export interface FirewallHost {
  /** In the format of the registry. */
  readonly ruleTexts: () => readonly string[];
  readonly netsh: (args: readonly string[], signal?: AbortSignal) => Promise<void>;
  /** Waits briefly, because netsh reports success before the firewall stores the rules. */
  readonly settle: (signal?: AbortSignal) => Promise<void>;
}

const RULES_PATH =
  'SYSTEM\\CurrentControlSet\\Services\\SharedAccess\\Parameters\\FirewallPolicy\\FirewallRules';
const NAME = /^rancher-wins-([0-9a-f]{32})$/;
const PROTOCOLS: Readonly<Partial<Record<number, string>>> = { 6: 'tcp', 17: 'udp' };
const RULE = ['advfirewall', 'firewall'];
const OPENING_WORDS = ['dir=in', 'action=allow'];
// Limits on the wait for the firewall to store rules: the number of checks, and the delay between them.
const CHECKS = 20;
const SETTLE_MS = 100;

/** Manages rules in the Windows firewall, or in another {@link FirewallHost}. */
export function firewallRules(host: FirewallHost = systemFirewall): FirewallRules {
  const listed = (): ReadonlyMap<string, readonly string[]> => {
    const runs = new Map<string, string[]>();
    for (const text of host.ruleTexts()) {
      const rule = parseFirewallRule(text);
      const mark = rule && NAME.exec(rule.name)?.[1];
      if (rule === undefined || mark === undefined) continue;
      runs.set(mark, [...(runs.get(mark) ?? []), describeRule(rule)].sort());
    }
    return runs;
  };

  const verify = async (
    tried: string,
    mark: string,
    wanted: readonly string[],
    signal?: AbortSignal,
  ): Promise<void> => {
    for (let checks = 1; ; checks += 1) {
      const found = listed().get(mark) ?? [];
      if (found.join('; ') === wanted.join('; ')) return;
      if (checks === CHECKS) {
        const message = `${tried}: netsh reported success, but the rules differ: found [${found.join('; ')}]; wanted [${wanted.join('; ')}]`;
        throw new WindowsError('notVerified', message);
      }
      await host.settle(signal);
    }
  };

  const close = async (mark: string): Promise<void> => {
    const name = ruleName(mark);
    if (!listed().has(mark)) return;
    await host.netsh([...RULE, 'delete', 'rule', `name=${name}`]);
    await verify(`cannot remove the firewall rules ${name}`, mark, []);
  };

  return {
    open: async (mark, ports, { signal } = {}) => {
      const name = ruleName(mark);
      const wanted: string[] = [];
      for (const [protocol, ranges] of Object.entries(portSet(ports))) {
        if (ranges.length === 0) continue;
        const listed = formatRanges(ranges);
        wanted.push(`${protocol} ${listed}`);
        const what = [`protocol=${protocol.toUpperCase()}`, `localport=${listed}`];
        const args = [...RULE, 'add', 'rule', `name=${name}`, ...OPENING_WORDS, ...what];
        await host.netsh(args, signal);
      }
      await verify(`cannot add the firewall rules ${name}`, mark, wanted, signal);
    },
    close,
    sweep: async (liveMarks) => {
      const swept: string[] = [];
      const failures: unknown[] = [];
      for (const mark of listed().keys()) {
        if (liveMarks.includes(mark)) continue;
        await close(mark).then(
          () => swept.push(mark),
          (error: unknown) => failures.push(error),
        );
      }
      if (failures.length > 0) throw failures[0];
      return swept;
    },
    list: () => [...listed()].map(([mark, rules]) => ({ mark, rules })),
  };
}

/** Reads the registry, because the output of netsh is in the language of the host. */
export function registryRuleTexts(path = RULES_PATH): readonly string[] {
  using key = RegistryKey.open(path);
  const entries = [...(key?.values().values() ?? [])];
  return entries.flatMap((entry) => (entry.type === 'text' ? [entry.value] : []));
}

const systemFirewall: FirewallHost = {
  ruleTexts: () => registryRuleTexts(),
  netsh: (args, signal) => runSystemProgram('netsh.exe', args, signal),
  settle: (signal) => delay(SETTLE_MS, undefined, signal && { signal }),
};

/** @throws WindowsError `invalidArgument` unless the mark has 32 hexadecimal digits, because it goes into a command line. */
function ruleName(mark: string): string {
  const name = `rancher-wins-${mark}`;
  if (NAME.test(name)) return name;
  const message = `cannot name firewall rules after the run ${quoteText(mark)}: its id must have 32 hexadecimal digits`;
  throw new WindowsError('invalidArgument', message);
}

function describeRule({ opens, protocol, ports }: FirewallRule): string {
  const known = protocol === undefined ? undefined : PROTOCOLS[protocol];
  if (!opens) return 'does not allow inbound traffic';
  if (known === undefined || ports === undefined) return 'any';
  return `${known} ${formatRanges(joinRanges(ports))}`;
}
