import { quoteText, type ExposedPort, type PortOpener } from '@wins/wins-program';
import { setTimeout as delay } from 'node:timers/promises';
import { formatRanges, joinRanges, portSet, type PortSet } from './firewall-ports.js';
import { parseFirewallRule, type FirewallRule } from './firewall-rule-text.js';
import { RegistryKey } from '../registry/registry.js';
import { runSystemProgram } from '../processes/system-program.js';
import { WindowsError } from '../windows-error.js';

/**
 * The openings in the host's firewall that runs of programs have made. All rules of a run have one name,
 * `rancher-wins-<mark of the run>`, which no other rule has; so they are found and removed together, in whatever language Windows speaks.
 */
export interface FirewallRules extends PortOpener {
  /**
   * Opens exactly these ports, for all remote addresses, and verifies it. Nothing to open is no error.
   *
   * @throws WindowsError `invalidArgument`, `unavailable`, `timeout`, `notVerified`, `unknown`; the signal's reason.
   */
  open(mark: string, ports: readonly ExposedPort[], signal?: AbortSignal): Promise<void>;
  /**
   * Removes the rules of all runs but the given ones: what a daemon left that ended without closing. Gives the marks of the
   * runs whose rules it removed. Rules that are added after the call stay.
   *
   * @throws WindowsError as `open`, the first of them, after all were tried.
   */
  sweep(liveMarks: readonly string[]): Promise<readonly string[]>;
  /** The openings that there are now, of all runs. */
  list(): readonly RunOpening[];
}

/** What the firewall lets through for one run. */
export interface RunOpening {
  readonly mark: string;
  /** One text for each rule, such as `tcp 80,443`; `any` for a rule that names no ports. */
  readonly rules: readonly string[];
}

/** What the rules are kept in. */
export interface FirewallHost {
  /** The texts of all rules, in the format of the registry. */
  readonly ruleTexts: () => readonly string[];
  /** Runs netsh with these arguments. */
  readonly netsh: (args: readonly string[], signal?: AbortSignal) => Promise<void>;
  /** Gives the firewall a moment to write down what it has said that it did. */
  readonly settle: (signal?: AbortSignal) => Promise<void>;
}

const RULES_PATH =
  'SYSTEM\\CurrentControlSet\\Services\\SharedAccess\\Parameters\\FirewallPolicy\\FirewallRules';
const NAME = /^rancher-wins-([0-9a-f]{32})$/;
const PROTOCOLS: ReadonlyMap<number | undefined, string> = new Map([
  [6, 'tcp'],
  [17, 'udp'],
]);
// How often it is looked whether the rules are as wanted, and the moment between two looks.
const CHECKS = 20;
const SETTLE_MS = 100;

/** The firewall of Windows, or what stands for it. */
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

  /** Looks until the rules of a run are as wanted. */
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
        const message = `${tried}: netsh reported success; found [${found.join('; ')}]; wanted [${wanted.join('; ')}]`;
        throw new WindowsError('notVerified', message);
      }
      await host.settle(signal);
    }
  };

  const close = async (mark: string): Promise<void> => {
    const name = ruleName(mark);
    if (!listed().has(mark)) return;
    await host.netsh(netshDeleteArguments(name));
    await verify(`removed the firewall rules ${name}`, mark, []);
  };

  return {
    open: async (mark, ports, signal) => {
      const name = ruleName(mark);
      const set = portSet(ports);
      for (const args of netshAddArguments(name, set)) await host.netsh(args, signal);
      const wanted = (['tcp', 'udp'] as const)
        .filter((protocol) => set[protocol].length > 0)
        .map((protocol) => `${protocol} ${formatRanges(set[protocol])}`);
      await verify(`added the firewall rules ${name}`, mark, wanted, signal);
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

/** Reads the rules where the firewall keeps them, because what netsh prints is in the language of the host. */
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

/** @throws WindowsError `invalidArgument`: the name goes into a command line. */
function ruleName(mark: string): string {
  const name = `rancher-wins-${mark}`;
  if (NAME.test(name)) return name;
  const message = `named firewall rules after the run ${quoteText(mark)}: wanted 32 hexadecimal digits`;
  throw new WindowsError('invalidArgument', message);
}

function describeRule({ opens, protocol, ports }: FirewallRule): string {
  const known = PROTOCOLS.get(protocol);
  if (!opens) return 'does not open what it should';
  if (known === undefined || ports === undefined) return 'any';
  return `${known} ${formatRanges(joinRanges(ports))}`;
}

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
