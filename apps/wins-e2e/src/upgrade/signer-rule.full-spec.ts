import type { SignerRule } from '@wins/base';
import type { Upgrader } from '@wins/service-upgrade';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { expectUntouched } from '../testing/upgrade/untouched-service.js';
import { ROOT, Workspace } from '../testing/workspace.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

const SIGNED = { signedBy: 'ab'.repeat(32) };
const UNSIGNED = 'the offered program is not trusted: it is not a PE file';
const GRACE_MS = 5000;
const UNKNOWN = 'cannot check who has signed the program';

/** An offered program that leaves a mark whenever it runs. */
function marking(world: UpgradeWorld): string {
  const mark = world.workspace.path('mark');
  const text = `#!/bin/sh\ntouch "${mark}"\necho "rancher-wins version v1.1.0"\n`;
  return world.workspace.write('offered/wins', text, 0o755);
}

const wasRun = (world: UpgradeWorld) => existsSync(world.workspace.path('mark'));

/** Stores a config as the last one in force, as a daemon does. */
function keep(world: UpgradeWorld, upgrade: object): void {
  const content = configWith(world, { upgrade });
  const digest = createHash('sha256').update(content).digest('hex');
  const header = `# wins: {"sha256":"${digest}"}\n`;
  mkdirSync(`${world.config}.history`, { mode: 0o700 });
  writeFileSync(keptIn(world), header + content, { mode: 0o600 });
}

const keptIn = ({ config }: UpgradeWorld) => path.join(`${config}.history`, 'served.000001.yaml');

function configWith(world: UpgradeWorld, more: object): string {
  return JSON.stringify({ listen: world.pipe, ...more });
}

/** Each changes the node's config after the daemon has served one with `signedBy`. */
const LATER_CONFIGS: readonly (readonly [string, (world: UpgradeWorld) => void])[] = [
  ['is invalid', ({ config }) => writeFileSync(config, '{"upgrade": ')],
  [
    'has an invalid list',
    (world) => writeFileSync(world.config, configWith(world, { upgrade: { signedBy: [] } })),
  ],
  [
    'has a misspelt list',
    (world) => writeFileSync(world.config, configWith(world, { upgrade: { signdBy: 'x' } })),
  ],
  ['is empty', ({ config }) => writeFileSync(config, '')],
  ['is missing', ({ config }) => rmSync(config, { force: true })],
  ['is a folder', ({ config }) => mkdirSync(config)],
  [
    'can be written by others',
    ({ config }) => {
      writeFileSync(config, '{}');
      chmodSync(config, 0o666);
    },
  ],
  ['has lost the list', (world) => writeFileSync(world.config, configWith(world, {}))],
  [
    'lists other signers',
    (world) =>
      writeFileSync(world.config, configWith(world, { upgrade: { signedBy: 'cd'.repeat(32) } })),
  ],
];

describe('an unsigned program, offered to a node whose daemon has served a list of signers', () => {
  let world: UpgradeWorld;
  beforeAll(async () => {
    world = await UpgradeWorld.running();
    await world.supervisor.stop(GRACE_MS);
    keep(world, SIGNED);
  });
  beforeEach(() => rmSync(world.config, { force: true, recursive: true }));
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(LATER_CONFIGS)('is not even run when the config %s', async (_what, change) => {
    change(world);
    const offered = marking(world);
    const { code, stderr } = await world.up([
      '--path',
      offered,
      '--allow-drop',
      'upgrade.signedBy',
    ]);
    expect([code, stderr]).toEqual([65, expect.stringContaining(UNSIGNED)]);
    expect(wasRun(world)).toBe(false);
    expectUntouched(world);
  });

  it('is not even run for a new service that would read the same config', async () => {
    await using world = await UpgradeWorld.empty();
    keep(world, SIGNED);
    writeFileSync(world.config, '{');
    const args = ['--path', marking(world), '--wins-args', `--config ${world.config}`];
    const { code, stderr } = await world.up(args);
    expect([code, stderr, wasRun(world)]).toEqual([65, expect.stringContaining(UNSIGNED), false]);
  });
});

describe('an unsigned program, offered to a node that has never stored a config', () => {
  let world: UpgradeWorld;
  beforeAll(async () => {
    world = await UpgradeWorld.running();
    await world.supervisor.stop(GRACE_MS);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each([
    ['is invalid', '{"upgrade": '],
    ['has an invalid list', JSON.stringify({ upgrade: { signedBy: null } })],
    ['has a misspelt list', JSON.stringify({ upgrade: { signedby_: 'x' } })],
    ['has the list in the wrong place', JSON.stringify({ signedBy: 'ab'.repeat(32) })],
  ])('is not even run when the config %s, because it may want a signature', async (_what, text) => {
    writeFileSync(world.config, text);
    const { code, stderr } = await world.up(['--path', marking(world)]);
    expect([code, stderr]).toEqual([65, expect.stringContaining(UNKNOWN)]);
    expect(stderr).toContain(`the config ${world.config} is invalid`);
    expect(wasRun(world)).toBe(false);
    expectUntouched(world);
  });

  it('is not even run when the config of the new arguments is invalid, or lists signers', async () => {
    writeFileSync(world.config, configWith(world, {}));
    const offered = ['--path', marking(world), '--wins-args'];
    for (const [text, reason] of [
      ['{', UNKNOWN],
      [JSON.stringify({ upgrade: SIGNED }), UNSIGNED],
    ] as const) {
      const next = world.workspace.write('next config', text);
      const { code, stderr } = await world.up([...offered, `--config "${next}"`]);
      expect([code, stderr]).toEqual([65, expect.stringContaining(reason)]);
    }
    expect(wasRun(world)).toBe(false);
  });

  it('is run when a valid config without a list replaces the invalid one', async () => {
    await using world = await UpgradeWorld.running();
    writeFileSync(world.config, '{');
    const next = world.workspace.write('next config', configWith(world, {}));
    await world.up(['--path', marking(world), '--wins-args', `--config "${next}"`]);
    expect(wasRun(world)).toBe(true);
  });
});

it('a program is not run while the stored copy of the config is damaged, and the message names the way out', async () => {
  await using world = await UpgradeWorld.running();
  keep(world, SIGNED);
  const kept = keptIn(world);
  writeFileSync(kept, readFileSync(kept, 'utf8').replace('signedBy', 'signedby'));
  const { code, stderr } = await world.up(['--path', marking(world)]);
  expect([code, stderr]).toEqual([65, expect.stringContaining('the stored copy of the config')]);
  expect(stderr).toContain('Start the daemon with a valid config');
  expect(wasRun(world)).toBe(false);
});

it.each([[['--merge']], [[]]])(
  'a delivered config does not lose the list of signers by accident (%j)',
  async (options) => {
    using workspace = new Workspace();
    const to = workspace.write('config', JSON.stringify({ upgrade: SIGNED }));
    const from = workspace.write('offered', JSON.stringify({ upgrade: { mode: 'none' } }));
    const words = ['cli', 'deliver', '--from', from, '--to', to, ...options];
    const { code, stderr } = await runWins(words, workspace.environment);
    expect([code, stderr]).toEqual([
      126,
      expect.stringContaining('would lose upgrade.signedBy (without which any program may become'),
    ]);
    expect(readFileSync(to, 'utf8')).toContain('signedBy');
    const allowed = await runWins(
      [...words, '--allow-drop', 'upgrade.signedBy'],
      workspace.environment,
    );
    expect([allowed.code, readFileSync(to, 'utf8').includes('signedBy')]).toEqual([0, false]);
  },
);

it('the built program takes a signed program whose certificate has expired, with a timestamp of a listed authority only', async () => {
  const kept = path.join(ROOT, 'tools/fuzz/corpus/signature/as-it-was-stamped.json');
  const { program, rule, now } = JSON.parse(readFileSync(kept, 'utf8')) as StampedProgram;
  const require = createRequire(path.join(ROOT, 'dist', 'wins.cjs'));
  const signed = (require('./wins-upgrade.cjs') as Upgrader).readSignature();
  await signed.take(Buffer.from(program, 'base64'), 0);
  expect(await signed.refuse(rule, new Date(now))).toBeUndefined();
  const { signedBy, timestampedBy = [] } = rule;
  const others = { signedBy, timestampedBy: signedBy.map(({ certificate }) => certificate) };
  expect(await signed.refuse({ signedBy }, new Date(now))).toContain('upgrade.timestampedBy');
  expect(await signed.refuse(others, new Date(now))).toContain('"CN=stamper"');
  const [entry] = signedBy;
  const stranger = [{ certificate: entry?.certificate ?? '', purpose: '1.3.6.1.4.1.311.97.9' }];
  expect(await signed.refuse({ signedBy: stranger, timestampedBy }, new Date(now))).toContain(
    'for the purpose 1.3.6.1.4.1.311.97.9',
  );
});

interface StampedProgram {
  readonly program: string;
  readonly rule: SignerRule;
  readonly now: string;
}
