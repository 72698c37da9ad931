import { firewallRules, type FirewallHost } from './firewall-rules.js';

const RUN = '0123456789abcdef0123456789abcdef';
const OTHER = 'f'.repeat(32);
const ports = [
  { protocol: 'tcp', port: 443 },
  { protocol: 'udp', port: 53 },
  { protocol: 'tcp', port: 80 },
  { protocol: 'tcp', port: 81 },
] as const;

/** Acts as netsh does, and records its arguments. */
class MemoryFirewall implements FirewallHost {
  readonly told: string[][] = [];
  rules: string[] = [];

  readonly ruleTexts = () => this.rules;
  readonly settle = () => Promise.resolve();

  readonly netsh = (args: readonly string[]): Promise<void> => {
    this.told.push([...args]);
    const words = new Map(args.slice(4).map((word) => word.split('=') as [string, string]));
    const name = words.get('name') ?? '';
    if (args[2] === 'delete') {
      this.rules = this.rules.filter((rule) => !rule.includes(`|Name=${name}|`));
    } else {
      const protocol = words.get('protocol') === 'TCP' ? 6 : 17;
      const local = (words.get('localport') ?? '')
        .split(',')
        .map((port) => (port.includes('-') ? `LPort2_10=${port}` : `LPort=${port}`));
      this.add(`Protocol=${protocol}|${local.join('|')}`, name);
    }
    return Promise.resolve();
  };

  add(what: string, name: string): void {
    this.rules.push(`v2.30|Action=Allow|Active=TRUE|Dir=In|${what}|Name=${name}|`);
  }
}

const refusal = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as unknown }) as Error;

it('opens exactly the ports of a run, by one rule for each protocol, and removes them together', async () => {
  const firewall = new MemoryFirewall();
  const rules = firewallRules(firewall);
  await rules.open(RUN, ports);
  expect(rules.list()).toEqual([{ mark: RUN, rules: ['tcp 80-81,443', 'udp 53'] }]);
  await rules.close(RUN);
  expect(rules.list()).toEqual([]);

  const rule = ['advfirewall', 'firewall', 'add', 'rule', `name=rancher-wins-${RUN}`];
  expect(firewall.told).toEqual([
    [...rule, 'dir=in', 'action=allow', 'protocol=TCP', 'localport=80-81,443'],
    [...rule, 'dir=in', 'action=allow', 'protocol=UDP', 'localport=53'],
    ['advfirewall', 'firewall', 'delete', 'rule', `name=rancher-wins-${RUN}`],
  ]);
});

it('runs nothing when there is nothing to open or to remove', async () => {
  const firewall = new MemoryFirewall();
  await firewallRules(firewall).open(RUN, []);
  await firewallRules(firewall).close(RUN);
  expect(firewall.told).toEqual([]);
});

it.each(['', 'all', RUN.toUpperCase(), `${RUN}0`, `${RUN} dir=out`, `${RUN}\n`, `*`])(
  'refuses the run id %j',
  async (mark) => {
    const firewall = new MemoryFirewall();
    const rules = firewallRules(firewall);
    await expect(rules.open(mark, ports)).rejects.toMatchObject({ code: 'invalidArgument' });
    await expect(rules.close(mark)).rejects.toMatchObject({ code: 'invalidArgument' });
    expect(firewall.told).toEqual([]);
  },
);

it('sweeps the rules of all runs but the living ones, and no rule of anybody else', async () => {
  const firewall = new MemoryFirewall();
  const strangers = ['Remote Desktop', 'rancher-wins-nginx-TCP-80', `x rancher-wins-${RUN}`];
  for (const name of strangers) firewall.add('Protocol=6|LPort=1', name);
  const before = [...firewall.rules, 'nonsense'];
  firewall.rules = [...before];
  const rules = firewallRules(firewall);
  await rules.open(OTHER, ports);
  const living = firewall.rules.slice(before.length);
  await rules.open(RUN, ports);

  await expect(rules.sweep([OTHER])).resolves.toEqual([RUN]);
  expect(firewall.rules).toEqual([...before, ...living]);
  await expect(rules.sweep([])).resolves.toEqual([OTHER]);
  await expect(rules.sweep([])).resolves.toEqual([]);
  expect(firewall.rules).toEqual(before);
});

it('sweeps no run that opens its ports meanwhile', async () => {
  const firewall = new MemoryFirewall();
  const rules = firewallRules(firewall);
  await rules.open(RUN, ports);
  const swept = rules.sweep([]);
  await rules.open(OTHER, ports);
  await expect(swept).resolves.toEqual([RUN]);
  expect(rules.list().map(({ mark }) => mark)).toEqual([OTHER]);
});

it('sweeps what it can when one rule cannot be removed', async () => {
  const firewall = new MemoryFirewall();
  await firewallRules(firewall).open(RUN, ports);
  await firewallRules(firewall).open(OTHER, ports);
  const netsh = (args: readonly string[]) =>
    args.join().includes(RUN) ? Promise.reject(new Error('busy')) : firewall.netsh(args);
  const rules = firewallRules({ ruleTexts: firewall.ruleTexts, settle: firewall.settle, netsh });
  await expect(rules.sweep([])).rejects.toThrow('busy');
  expect(rules.list().map(({ mark }) => mark)).toEqual([RUN]);
});

it('does not believe a firewall that says that it did it', async () => {
  const { ruleTexts, settle } = new MemoryFirewall();
  const lying = firewallRules({ ruleTexts, settle, netsh: () => Promise.resolve() });
  await expect(lying.open(RUN, ports)).rejects.toEqual(
    refusal('notVerified', 'found []; wanted [tcp 80-81,443; udp 53]'),
  );
});

it('waits for a firewall that is slow to write down what it did', async () => {
  const firewall = new MemoryFirewall();
  const late: (() => unknown)[] = [];
  const rules = firewallRules({
    ruleTexts: firewall.ruleTexts,
    netsh: (args) => (late.push(() => firewall.netsh(args)), Promise.resolve()),
    settle: () => (late.shift()?.(), Promise.resolve()),
  });
  await rules.open(RUN, ports);
  await rules.close(RUN);
  expect(firewall.told).toHaveLength(3);
});

it('does not take a wider, a narrower or a sleeping rule for the one that was wanted', async () => {
  const open = (rule: string) => {
    const rules = [rule.replace('NAME', `rancher-wins-${RUN}`)];
    const settle = () => Promise.resolve();
    const host = { ruleTexts: () => rules, netsh: settle, settle };
    return firewallRules(host).open(RUN, [{ protocol: 'tcp', port: 80 }]);
  };
  const rule = 'v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|LPort=80|Name=NAME|';
  await open(rule);
  const others = [
    rule.replace('LPort=80', 'LPort2_10=80-90'),
    rule.replace('LPort=80|', ''),
    rule.replace('Protocol=6', 'Protocol=17'),
    rule.replace('Active=TRUE', 'Active=FALSE'),
  ];
  for (const other of others) {
    await expect(open(other)).rejects.toMatchObject({ code: 'notVerified' });
  }
});

it('passes on that it is told to give up', async () => {
  const firewall = new MemoryFirewall();
  const seen: unknown[] = [];
  const rules = firewallRules({
    ruleTexts: () => [],
    netsh: (_args, signal) => (seen.push(signal), Promise.resolve()),
    settle: (signal) => Promise.reject((signal?.reason ?? firewall) as Error),
  });
  const signal = AbortSignal.abort(new Error('the client is gone'));
  await expect(rules.open(RUN, ports, { signal })).rejects.toThrow('the client is gone');
  expect(seen).toEqual([signal, signal]);
});
