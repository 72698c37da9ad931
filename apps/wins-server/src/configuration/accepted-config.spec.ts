import { ConfigError, configFingerprint, configKeys } from '@wins/config';
import fc from 'fast-check';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDaemon } from '../daemon.js';
import { createLoggerTo, LogLevel } from '../kernel/log/logger.js';
import { thisSystem } from '../this-system.js';
import { loadDaemonConfig } from '../load-daemon-config.js';

const RUNS = 150;
const folder = mkdtempSync(path.join(tmpdir(), 'wins-accepted-'));
const file = path.join(folder, 'config');
const { WINS_RUNTIME_DIR: before } = process.env;
const within = (...names: string[]): string => path.join(folder, ...names);

beforeAll(() => {
  process.env['WINS_RUNTIME_DIR'] = within('run');
  writeFileSync(within('file'), '');
  mkdirSync(within('open'));
  mkdirSync(within('open', 'inner'));
  mkdirSync(within('mine'), { mode: 0o700 });
});
afterAll(() => {
  if (before === undefined) delete process.env['WINS_RUNTIME_DIR'];
  else process.env['WINS_RUNTIME_DIR'] = before;
  rmSync(folder, { recursive: true });
});

/** Texts of all lengths with the special characters of names, paths and SDDL. None is an absolute path. */
const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom(...Array.from('aZ0. -_%é€😀:;()$~')),
    minLength: 1,
    maxLength: 110,
  }),
  fc.constantFrom('', ' ', 'con', 'a/b', '..', 'Everyone', '\u202e', 'x'.repeat(300)),
);
const pipe = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('rancher_wins', 'a', 'A', 'a_admin', 'a.state') },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        'pipe',
        'pipe_admin',
        'pipe.state',
        'pipe.audit',
        'file',
        'file/pipe',
        'new/pipe',
        'no/no/pipe',
      )
      .map((name) => within(name)),
  },
  fc.constantFrom('npipe:////./pipe/a', '\\\\.\\pipe\\b', '\\\\other\\pipe\\a', within('run', 'a')),
  fc
    .string({ unit: fc.constantFrom('x', 'é', '.'), minLength: 1, maxLength: 90 })
    .map((name) => within('l', name)),
  text.filter((name) => !name.startsWith('/')),
);
const sid = fc.constantFrom(
  'SY',
  'BA',
  'WD',
  'AU',
  'XX',
  'DA',
  'S-1-5-21-1-2-3-1001',
  'S-1-5-80-1-2-3-4-5',
);
const access = fc.oneof(
  text,
  fc
    .tuple(
      fc.constantFrom('', 'O:BA', 'O:S-1-5-21-1-2-3-1001', 'G:SY', 'X:'),
      fc.constantFrom('D:P', 'D:', 'D:NO_ACCESS_CONTROL', ''),
      fc.array(
        fc.tuple(
          fc.constantFrom('A', 'D', 'XA', 'Q'),
          fc.constantFrom('GA', 'GRGW', 'FR', 'ZZ'),
          sid,
        ),
        { maxLength: 4 },
      ),
      fc.constantFrom('', 'S:', 'S:(AU;SA;GA;;;WD)'),
    )
    .map(([owner, list, entries, audit]) =>
      [
        owner,
        list,
        ...entries.map(([type, rights, who]) => `(${type};;${rights};;;${who})`),
        audit,
      ].join(''),
    ),
);
const anyPath = fc.oneof(
  fc
    .constantFrom(
      'mine',
      'file',
      'open',
      'open/new',
      'open/inner',
      'new/new',
      'file/new',
      'x'.repeat(300),
    )
    .map((name) => within(name)),
  fc
    .constantFrom('logs', './logs', 'C:\\logs', '/'.repeat(3))
    .filter((name) => !name.startsWith('/')),
  text.filter((name) => !name.startsWith('/')),
);
const flag = fc.oneof({ weight: 4, arbitrary: fc.boolean() }, fc.constantFrom('yes', 3));
const number = (most: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: most }) },
    fc.constantFrom(0, -1, 1.5, most + 1),
  );
const listOf = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { maxLength: 3 });
const hex = fc.constantFrom('a'.repeat(64), 'A'.repeat(64), 'x');
const address = fc.constantFrom(
  '127.0.0.1:9797',
  '0.0.0.0:9797',
  '[::1]:1',
  'localhost:1',
  '10.1.2.3:9',
  'x',
);
const url = fc.constantFrom(
  'http://127.0.0.1:4318',
  'https://u:p@h/',
  'ftp://h',
  'https://example.com/%s',
);
const argument = fc.oneof(
  text,
  fc.constantFrom(
    { integer: { min: 1, max: 2 } },
    { port: true },
    { pathUnder: '/x' },
    { oneOf: ['a'] },
    { pathUnder: 'x' },
  ),
);

const uuid = fc.constantFrom('h', '../h');
/** Valid and invalid values of every key; `[]` stands for the entries of a list. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  debug: flag,
  listen: pipe,
  proxy: pipe,
  pipeAccess: access,
  reflection: flag,
  debugPipe: flag,
  processEnvironment: fc.dictionary(fc.constantFrom('A', 'PATH', 'LD_PRELOAD', 'a=b', ''), text, {
    maxKeys: 2,
  }),
  'white_list.processPaths[].path': fc.oneof(anyPath, pipe),
  'white_list.processPaths[].sha256': listOf(hex),
  'white_list.processPaths[].envs': fc.oneof(
    listOf(fc.constantFrom('A', 'A_*', 'PATH', '*', '')),
    fc.constant('any'),
  ),
  'white_list.processPaths[].args': fc.oneof(
    fc.constantFrom('any', 'none', 'x'),
    listOf(listOf(argument)),
  ),
  'white_list.processPaths[].directories': listOf(anyPath),
  'white_list.processPaths[].for': listOf(
    fc.constantFrom('administrators', 'user:0', 'user:x', 'container:*', 'account:S-1-5-18'),
  ),
  'white_list.processPaths[].mayBreakAway': flag,
  'white_list.processPaths[].stopSignal': fc.constantFrom('SIGINT', 'CTRL_BREAK', 'SIGKILL', 9),
  'white_list.processPaths[].stopEvent': fc.oneof(text, fc.constant('Global\\stop')),
  'white_list.processPaths[].argv0': fc.constantFrom('copy', 'listed', 'x'),
  ...Object.fromEntries(
    ['limits', 'maxLimits'].flatMap((key) => [
      [`white_list.processPaths[].${key}.memoryBytes`, fc.constantFrom(1, 2 ** 20, 2 ** 40, -1)],
      [`white_list.processPaths[].${key}.cpus`, fc.constantFrom(0, 0.01, 1, 5000, 'x')],
      [`white_list.processPaths[].${key}.pids`, number(1000)],
    ]),
  ),
  'white_list.processPaths[].detached.allow': flag,
  'white_list.processPaths[].files.max': number(32),
  'white_list.processPaths[].files.maxBytes': number(768 * 1024),
  'white_list.processPaths[].detached.maxRuns': number(1024),
  'white_list.processPaths[].detached.spoolBytes': fc.constantFrom(2 ** 20, 2 ** 29, 1, 2 ** 30),
  'white_list.processPaths[].detached.maxAgeHours': number(8760),
  'white_list.processPaths[].detached.restart.allow': flag,
  'white_list.processPaths[].detached.restart.delayMs': number(86_400_000),
  'white_list.processPaths[].detached.restart.maxDelayMs': number(86_400_000),
  'white_list.processPaths[].detached.restart.giveUpAfter': number(999_999_999),
  'white_list.proxyPorts': listOf(number(65535)),
  'white_list.proxyUdpPorts': listOf(number(65535)),
  // No such programs exist, so none starts.
  'keep[].path': fc.constantFrom('/nowhere/tool', '/nowhere/other', 'x'),
  'keep[].name': fc.constantFrom('a', 'b c', ''),
  'keep[].args': listOf(text),
  'keep[].envs': fc.dictionary(fc.constantFrom('A', 'PATH', 'a=b'), text, { maxKeys: 2 }),
  'keep[].sha256': listOf(hex),
  'keep[].stopEvent': text,
  'keep[].restart.policy': fc.constantFrom('always', 'no', 'on-failure:3', 'x', 3),
  'keep[].restart.delayMs': number(86_400_000),
  'keep[].restart.maxDelayMs': number(86_400_000),
  'keep[].restart.giveUpAfter': number(999_999_999),
  'keep[].stopSignal': fc.constantFrom('SIGINT', 'SIGKILL'),
  'keep[].limits.memoryBytes': fc.constantFrom(1, 2 ** 20),
  'keep[].limits.cpus': fc.constantFrom(0, 1),
  'keep[].limits.pids': number(1000),
  'tunnel.maxSessions': number(1024),
  'tunnel.maxStreams': number(16_384),
  'tunnel.handshakeTimeoutMs': number(600_000),
  'routes.allow': listOf(
    fc.constantFrom('10.42.0.0/16', '127.0.0.0/8', '0.0.0.0/0', 'x', 'fd00::/8'),
  ),
  // These values must not change this machine's routes. The plan rejects the loopback as a gateway, whatever interface a route names. In `hostNetwork.keep`, `x` names no cloud.
  'hostNetwork.routes[].destination': fc.constantFrom('198.51.100.0/24', '0.0.0.0/0', 'x'),
  'hostNetwork.routes[].gateway': fc.constantFrom('127.0.0.9', '::1', 'x'),
  'hostNetwork.routes[].interface': text,
  'hostNetwork.routes[].metric': number(9999),
  'hostNetwork.keep': listOf(fc.constant('x')),
  'hostNetwork.metadata.hostUuid': uuid,
  'hostNetwork.metadata.environmentUuid': uuid,
  'hostNetwork.metadata.address': fc.constantFrom('127.0.0.1:9', '192.0.2.1', 'x'),
  'hostNetwork.metadata.routerIp': fc.constantFrom('192.0.2.2', '::1', 'x'),
  // Published ports need a subnet.
  'hostNetwork.metadata.ports': flag,
  // This machine must never get a subnet, so each config with `subnet` must be refused. A valid config needs a `cluster` that contains the subnet.
  // Of the clusters below, only 0.0.0.0/0 does, and it is never valid.
  'hostNetwork.subnet': fc.constantFrom('10.42.1.0/24', 'x'),
  'hostNetwork.gateway': fc.constantFrom('10.42.1.1', 'x'),
  'hostNetwork.cluster': listOf(fc.constantFrom('10.43.0.0/16', '0.0.0.0/0', 'x')),
  'hostNetwork.peers[].subnet': fc.constantFrom('10.42.2.0/24', '0.0.0.0/0', 'x'),
  'hostNetwork.peers[].via': fc.constantFrom('127.0.0.9', '::1', 'x'),
  'hostNetwork.nodes.enabled': flag,
  'hostNetwork.nodes.kubeconfig': anyPath,
  'hostNetwork.probePort': number(65_535),
  'hostNetwork.ports[].proto': fc.constantFrom('tcp', 'udp', 'sctp'),
  'hostNetwork.ports[].listen': fc.constantFrom('127.0.0.1:0', '127.0.0.1:18080', 'x'),
  'hostNetwork.ports[].to': fc.constantFrom('198.51.100.7:80', '127.0.0.1:80', 'x'),
  'hostNetwork.ports[].allowReserved': fc.boolean(),
  'hostNetwork.ports[].allowHost': fc.boolean(),
  'audit.directory': anyPath,
  'audit.maxFileBytes': fc.constantFrom(65_536, 2 ** 30, 1, 2 ** 31),
  'audit.maxFiles': number(1024),
  'metrics.listen': address,
  'metrics.allowRemote': flag,
  'upgrade.mode': fc.constantFrom('none', 'watching', '', 'x'),
  'upgrade.watchingPath': anyPath,
  'upgrade.signedBy[].certificate': hex,
  'upgrade.signedBy[].purpose': fc.constantFrom('1.3.6.1.4.1.311.97.1', 'x'),
  'upgrade.timestampedBy': listOf(hex),
  'systemagent.localEnabled': flag,
  'systemagent.remoteEnabled': flag,
  'systemagent.preserveWorkDirectory': flag,
  'systemagent.workDirectory': anyPath,
  'systemagent.localPlanDirectory': anyPath,
  'systemagent.appliedPlanDirectory': anyPath,
  'systemagent.connectionInfoFile': anyPath,
  'systemagent.imagesDirectory': anyPath,
  'systemagent.agentRegistriesFile': anyPath,
  'systemagent.imageCredentialProviderConfig': anyPath,
  'systemagent.imageCredentialProviderBinDirectory': anyPath,
  'systemagent.interlockDirectory': anyPath,
  'csi-proxy.url': url,
  'csi-proxy.version': fc.constantFrom('v1.1.3', 'v2.0.0', 'x'),
  'csi-proxy.kubeletPath': anyPath,
  'csi-proxy.sha256': hex,
  'csi-proxy.args': listOf(text),
  'csi-proxy.path': anyPath,
  'tls-config.insecure': flag,
  'tls-config.certFilePath': anyPath,
  agentStrictTLSMode: flag,
};

const keys = configKeys('linux').map(({ key }) => key);
const leaves = keys.filter(
  (key) => !keys.some((other) => other.startsWith(`${key}.`) || other.startsWith(`${key}[`)),
);

const REQUIRED: Readonly<Record<string, unknown>> = {
  'white_list.processPaths[].path': '/bin/true',
  'hostNetwork.peers[].subnet': '10.42.2.0/24',
  'hostNetwork.peers[].via': '127.0.0.9',
  'keep[].path': '/nowhere/tool',
  'hostNetwork.routes[].destination': '198.51.100.0/24',
  'hostNetwork.routes[].gateway': '127.0.0.9',
  'hostNetwork.metadata.hostUuid': 'h',
  'hostNetwork.metadata.environmentUuid': 'e',
  'hostNetwork.metadata.address': '127.0.0.1:9',
  'hostNetwork.ports[].proto': 'tcp',
  'hostNetwork.ports[].listen': '127.0.0.1:18080',
  'hostNetwork.ports[].to': '198.51.100.7:80',
  'metrics.listen': '127.0.0.1:9797',
  'csi-proxy.url': 'https://example.com/%s',
  'csi-proxy.version': 'v1.1.3',
  'csi-proxy.kubeletPath': 'C:/k',
};

/** A config with at most four keys; with more, the config is nearly always invalid. */
const content = fc
  .subarray(Object.keys(VALUES), { minLength: 1, maxLength: 4 })
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, VALUES[name] ?? fc.constant(0)]))),
  )
  .map((chosen) => {
    const sections = new Set(Object.keys(chosen).map(sectionOf));
    const needed = Object.entries(REQUIRED).filter(([key]) => sections.has(sectionOf(key)));
    const root: Record<string, unknown> = {};
    for (const [key, value] of Object.entries({ ...Object.fromEntries(needed), ...chosen })) {
      const [inEntry] = /(?<=\[\]\.).*/.exec(key) ?? [];
      const section = sectionOf(key).replace(/\[\].*/, '');
      const name = inEntry ?? key.slice(section.length + 1);
      const [first = '', second] = section.split('.');
      if (inEntry !== undefined) {
        const parent = second === undefined ? root : (root[first] ??= {});
        const lists = parent as Record<string, [Record<string, unknown>]>;
        const [entry] = (lists[second ?? first] ??= [{}]);
        const [part = '', below] = name.split('.');
        if (below === undefined) entry[name] = value;
        else ((entry[part] ??= {}) as Record<string, unknown>)[below] = value;
      } else if (section === '') root[key] = value;
      else {
        const outer = (root[first] ??= {}) as Record<string, unknown>;
        const parent = second === undefined ? outer : (outer[second] ??= {});
        (parent as Record<string, unknown>)[name] = value;
      }
    }
    return root;
  });

function sectionOf(key: string): string {
  return key.includes('.') ? key.slice(0, key.lastIndexOf('.')).replace(/(?<=\[\])\..*/, '') : '';
}

async function startAndStop(loaded: Awaited<ReturnType<typeof loadDaemonConfig>>): Promise<void> {
  const logger = createLoggerTo({ debug: false, quiet: true }, { write: () => undefined });
  using level = new LogLevel(logger);
  const config = { named: file, loaded, refused: undefined };
  const daemon = await startDaemon({
    logger,
    level,
    system: thisSystem(),
    config: { ...config, fingerprint: configFingerprint(file) },
  });
  const canRecord = daemon.kernel.audit.isAvailable;
  await daemon.close();
  // A daemon that cannot write the audit log refuses all actions, so its config must not be accepted.
  if (!canRecord) throw new Error('the audit log cannot be written');
}

describe('a config that is accepted', () => {
  it('has a value for every key', () => {
    expect(Object.keys(VALUES).sort()).toEqual(
      leaves.map((key) => key.replace(/\[\]$/, '')).sort(),
    );
  });

  it('starts a daemon, whatever the keys say', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(content, async (values) => {
        rmSync(within('new'), { recursive: true, force: true });
        mkdirSync(within('l'), { recursive: true, mode: 0o700 });
        chmodSync(within('open'), 0o777);
        writeFileSync(file, JSON.stringify(values), { mode: 0o600 });
        let loaded: Awaited<ReturnType<typeof loadDaemonConfig>>;
        try {
          loaded = await loadDaemonConfig(file);
        } catch (error) {
          if (error instanceof ConfigError) return;
          throw error;
        }
        accepted += 1;
        await startAndStop(loaded);
      }),
      {
        numRuns: RUNS,
        examples: [[{ listen: within('new/pipe') }], [{ proxy: within('new/pipe') }]],
      },
    );
    expect(accepted).toBeGreaterThan(RUNS / 5);
  }, 120_000);
});
