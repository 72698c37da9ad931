import {
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  mkdirSync,
} from 'node:fs';
import path from 'node:path';
import { createCertificateAuthority } from '@wins/base/testing';
import * as fc from 'fast-check';
import type { StateOf } from '../item/item.js';
import type { ItemHost } from '../ports.js';
import { editConfig, plainInstallation, TestNode, type Fault } from '../testing/node-harness.js';
import { planInstall } from '../plan/plan-install.js';
import type { DesiredInstallation } from '../desired/desired-installation.js';
import { Secret } from '../desired/secret.js';
import { readFacts } from '../facts/read-facts.js';
import type { Around } from '../install-context.js';
import { applyPlan, finishOrUndo } from './apply-plan.js';

const CANARY = 'canary-7d1f-token';
const IS_LONG = process.env['WINS_TEST_TIER'] === 'long';
const RUNS = IS_LONG ? 200 : 15;
const STRIDE = IS_LONG ? 1 : 8;
const { cert: CERTIFICATE } = createCertificateAuthority('authority');

interface Before {
  readonly config?: string;
  readonly service?: 'running' | 'stopped';
  readonly rke2?: 'linked' | 'free';
  readonly environment: Readonly<Record<string, string>>;
  readonly hasFolders: boolean;
  readonly weakFolder: boolean;
}

const texts = fc.constantFrom('', 'debug: true\n', '# by hand\nother: 1\n');
const befores: fc.Arbitrary<Before> = fc.record(
  {
    config: texts,
    service: fc.constantFrom('running' as const, 'stopped' as const),
    rke2: fc.constantFrom('linked' as const, 'free' as const),
    environment: fc.dictionary(fc.constantFrom('HTTPS_PROXY', 'OTHER'), fc.constantFrom('a', 'b')),
    hasFolders: fc.boolean(),
    weakFolder: fc.boolean(),
  },
  { requiredKeys: ['environment', 'hasFolders', 'weakFolder'] },
);
type Choices = Omit<DesiredInstallation, 'paths' | 'service' | 'program'> & {
  readonly version?: string;
};
const choices: fc.Arbitrary<Choices> = fc.record(
  {
    version: fc.constantFrom('v1.0.0', 'v1.1.0'),
    config: fc.constantFrom({ debug: true }, { debug: null, agentStrictTLSMode: false }),
    authorities: fc.constantFrom(CERTIFICATE, null),
    trustMachineStore: fc.boolean(),
    connectionInfo: fc.constantFrom(CANARY, '{"kubeConfig":""}').map((text) => new Secret(text)),
    nodeId: fc.constant('a1b2c3'),
    startType: fc.constantFrom('automatic' as const, 'delayed' as const),
    isRke2Dependent: fc.boolean(),
    environment: fc.dictionary(
      fc.constantFrom('HTTPS_PROXY', 'NO_PROXY'),
      fc
        .constantFrom('http://u:canary-7d1f-token@proxy', 'a', null)
        .map((text) => (text === null ? null : new Secret(text))),
    ),
    winHttpProxy: fc.constantFrom({ proxy: 'proxy:3128', bypass: '' }, null),
  },
  { requiredKeys: [] },
);

async function prepare(node: TestNode, before: Before): Promise<void> {
  const { paths } = node;
  const { stores } = node.host();
  if (before.config !== undefined) node.put(paths.config, before.config);
  if (before.hasFolders) node.put(path.join(paths.programFolder, 'other-tool'), 'x', 0o755);
  if (before.weakFolder) {
    mkdirSync(paths.programFolder, { recursive: true });
    chmodSync(paths.programFolder, 0o777);
  }
  if (before.service !== undefined) {
    node.put(paths.program, '#!/bin/sh\necho v1.0.0\n', 0o755);
    const state = { command: `"${paths.program}" srv app run`, startType: 'automatic' } as const;
    await stores.service.write({ kind: 'service', name: 'rancher-wins' }, state, undefined);
    if (before.service === 'running') node.running.add('rancher-wins');
    for (const [name, value] of Object.entries(before.environment)) {
      const file = path.join(node.root, 'value');
      writeFileSync(file, value);
      const { createHash } = await import('node:crypto');
      const sha256 = createHash('sha256').update(value).digest('hex');
      await stores.variable.write(
        { kind: 'variable', service: 'rancher-wins', name },
        { sha256 },
        file,
      );
    }
  }
  if (before.rke2 !== undefined) {
    const state = { command: '"/rke2" agent', startType: 'automatic' } as const;
    await stores.service.write({ kind: 'service', name: 'rke2' }, state, undefined);
    node.running.add('rke2');
    if (before.rke2 === 'linked') {
      const item = { kind: 'dependency', service: 'rke2', on: 'rancher-wins' } as const;
      await stores.dependency.write(item, 'present', undefined);
    }
  }
}

function desiredOf(node: TestNode, { version, ...more }: Choices): DesiredInstallation {
  const program = version === undefined ? {} : { program: node.program(version) };
  return { paths: node.paths, service: 'rancher-wins', ...program, ...more };
}

const failingProof = { prove: () => Promise.reject(new Error('no answer')) };

describe('an installation', () => {
  it('waits for a program that holds its journal, its manifest or a kept content for a moment', async () => {
    using node = new TestNode();
    const desired = plainInstallation(node, { nodeId: 'abc' });
    const { context } = node.context();
    const held = new Set<string>();
    const around: Around = (effect, action) => {
      const isOwn = /journal|manifest$|contents?$|state folder$/.test(effect);
      if (!isOwn || held.has(effect)) return action();
      held.add(effect);
      return Promise.reject(Object.assign(new Error('EBUSY: made up'), { code: 'EBUSY' }));
    };
    const plan = planInstall(await readFacts(context, desired), desired, editConfig);
    if (plan.kind !== 'steps') throw new Error('there is nothing to do');
    await expect(applyPlan({ ...context, around }, plan)).resolves.toEqual({
      outcome: 'installed',
    });
    expect([...held]).toEqual(expect.arrayContaining(['write manifest', 'end journal']));
    await expect(node.install(desired)).resolves.toMatchObject({ outcome: 'nothing' });
  });

  it('is undone to its beginning by the next run, if its end was written but could not be flushed', async () => {
    using node = new TestNode();
    const before = node.snapshot();
    const desired = plainInstallation(node, { nodeId: 'abc' });
    const { context } = node.context();
    let undone = 0;
    let die = (): void => undefined;
    const death = new Promise<'died'>((resolve) => (die = () => resolve('died')));
    const around: Around = async (effect, action) => {
      const result = await action();
      if (effect.includes('"proven"')) throw new Error('EIO: made up');
      undone += Number(effect.includes('"undo"'));
      if (undone < 3) return result;
      die();
      return new Promise<never>(() => undefined);
    };
    const plan = planInstall(await readFacts(context, desired), desired, editConfig);
    if (plan.kind !== 'steps') throw new Error('there is nothing to do');
    expect(await Promise.race([applyPlan({ ...context, around }, plan), death])).toBe('died');
    expect(await node.recover()).toBe('undone');
    expect(node.snapshot()).toEqual(before);
  });

  it('of an empty node makes folders, files, PATH, service and manifest, and starts the daemon', async () => {
    using node = new TestNode();
    const desired = plainInstallation(node, { connectionInfo: new Secret('{}'), nodeId: 'abc' });
    await expect(node.install(desired)).resolves.toEqual({ outcome: 'installed' });
    expect([...node.running]).toEqual(['rancher-wins']);
    expect(readFileSync(node.paths.nodeId, 'utf8')).toBe('abc\n');
    const { services, things } = node.host().system;
    expect(services['rancher-wins']?.command).toBe(
      `"${node.paths.program}" srv app run --config "${node.paths.config}"`,
    );
    expect(Object.keys(things)).toContain(`pathElement ${node.paths.programFolder}`);
    expect(readdirSync(node.paths.stateFolder)).toEqual(['install-manifest.json']);
  });

  it('that is repeated does nothing; undone, it leaves the node byte for byte as it was', async () => {
    await fc.assert(
      fc.asyncProperty(befores, choices, async (before, more) => {
        using node = new TestNode();
        await prepare(node, before);
        const found = node.snapshot();
        const desired = desiredOf(node, more);
        const undone = await node.install(desired, undefined, failingProof);
        if (undone.outcome === 'refused' || undone.outcome === 'nothing') {
          expect(node.snapshot()).toEqual(found);
          return;
        }
        // Only a plan that restarts the daemon calls `failingProof`, so other plans are not rolled back.
        if (undone.outcome === 'rolledBack') {
          expect(undone.left).toEqual([]);
          expect(node.snapshot()).toEqual(found);
          await expect(node.install(desired)).resolves.toEqual({ outcome: 'installed' });
        }
        const made = node.snapshot();
        await expect(node.install(desired)).resolves.toMatchObject({ outcome: 'nothing' });
        expect(node.snapshot()).toEqual(made);
      }),
      { numRuns: RUNS },
    );
  });

  it('that dies at any effect is finished or undone by the next run, to the old state or the new', async () => {
    const cases: [Before, Choices][] = [
      [
        { environment: {}, hasFolders: false, weakFolder: false },
        {
          version: 'v1.1.0',
          connectionInfo: new Secret(CANARY),
          authorities: CERTIFICATE,
          trustMachineStore: true,
          environment: { HTTPS_PROXY: new Secret('p') },
        },
      ],
      [
        {
          config: 'debug: true\n',
          service: 'running',
          rke2: 'linked',
          environment: { HTTPS_PROXY: 'old' },
          hasFolders: true,
          weakFolder: false,
        },
        {
          version: 'v1.1.0',
          config: { debug: null },
          startType: 'delayed',
          environment: { HTTPS_PROXY: new Secret('p'), OTHER: null },
        },
      ],
    ];
    for (const [before, more] of cases) {
      const deaths = await countEffects(before, more);
      expect(deaths).toBeGreaterThan(30);
      // Death before an effect equals death after the previous one, so `before` is tried only for the first.
      await dieAt(before, more, 1, 'before');
      for (let at = 1; at <= deaths; at += STRIDE) await dieAt(before, more, at, 'after');
    }
  });

  it('that dies while it is undone is undone by the next run', async () => {
    using first = new TestNode();
    const before: Before = {
      service: 'running',
      rke2: 'linked',
      environment: { HTTPS_PROXY: 'old' },
      hasFolders: false,
      weakFolder: false,
    };
    await prepare(first, before);
    const effects: string[] = [];
    let count = 0;
    for (let at = 1; at === 1 || at <= effects.length; at += STRIDE) {
      using node = new TestNode();
      await prepare(node, before);
      const found = node.snapshot();
      const desired = desiredOf(node, {
        version: 'v1.1.0',
        environment: { HTTPS_PROXY: new Secret('p') },
      });
      count ||= await countOf(node, desired);
      await node.install(desired, new Map([[count, 'before']]));
      const end = await node.recover(new Map([[at, 'after']]));
      if (at === 1) effects.push(...(await recoveryOf(before)));
      if (end === 'died') await node.recover();
      expect({ at, now: node.snapshot() }).toEqual({ at, now: found });
    }
    expect(effects.length).toBeGreaterThan(8);
  });

  it('that the disk refuses at any effect leaves the old state, or says that the next run undoes it', async () => {
    const before: Before = {
      service: 'running',
      rke2: 'linked',
      environment: {},
      hasFolders: false,
      weakFolder: false,
    };
    const more: Choices = { version: 'v1.1.0', config: { debug: true } };
    const count = await countEffects(before, more);
    for (let at = 1; at <= count; at += STRIDE) {
      using node = new TestNode();
      await prepare(node, before);
      const found = node.snapshot();
      const desired = desiredOf(node, more);
      const end = await node
        .install(desired, new Map([[at, 'EIO']]))
        .catch((error: unknown) => error);
      if (!(end instanceof Error)) expect(end).toMatchObject({ outcome: 'rolledBack', left: [] });
      await node.recover();
      const made = end instanceof Error && /next run records it/.test(end.message);
      if (made) await expect(node.install(desired)).resolves.toMatchObject({ outcome: 'nothing' });
      else expect({ at, now: node.snapshot() }).toEqual({ at, now: found });
    }
  });

  it('puts back a service that its last step changed only in part', async () => {
    using node = new TestNode();
    const more = { environment: {}, hasFolders: false, weakFolder: false };
    await prepare(node, { service: 'stopped', ...more });
    const found = node.snapshot();
    const { context } = node.context();
    const { service: services } = context.host.stores;
    const write = services.write.bind(services);
    let isFirst = true;
    const writeInPart: typeof write = async (item, state, content) => {
      if (!isFirst || state === undefined) return write(item, state, content);
      isFirst = false;
      await write(item, { ...state, startType: 'disabled' }, content);
      throw new Error('the service manager stopped');
    };
    const service = { read: services.read.bind(services), write: writeInPart };
    const host = { ...context.host, stores: { ...context.host.stores, service } };
    const half = { ...context, host };
    const desired = desiredOf(node, { version: 'v1.1.0', startType: 'delayed' });
    const plan = planInstall(await readFacts(half, desired), desired, editConfig);
    if (plan.kind !== 'steps') throw new Error(plan.reason);
    expect(await applyPlan(half, plan)).toMatchObject({ outcome: 'rolledBack', left: [] });
    expect(node.snapshot()).toEqual(found);
  });

  it('puts back how a service starts when the upgrade of its program wrote the command with other quotes', async () => {
    using node = new TestNode();
    const more = { environment: {}, hasFolders: false, weakFolder: false };
    await prepare(node, { service: 'running', ...more });
    const found = node.snapshot();
    const { file: files, service: services } = node.host().stores;
    const item = { kind: 'service', name: 'rancher-wins' } as const;
    const swap = async (program: string, file: string, sha256: string): Promise<void> => {
      await files.write({ kind: 'file', path: program }, { sha256, access: 'executable' }, file);
      const state = (await services.read(item)) as StateOf<'service'>;
      const command = state.command.replaceAll('"', '');
      await services.write(item, { ...state, command }, undefined);
      node.running.add('rancher-wins');
    };
    const end = await node.install(
      desiredOf(node, { version: 'v1.1.0', startType: 'delayed' }),
      undefined,
      { ...failingProof, swap: { swap, settle: () => Promise.resolve() } },
    );
    expect(end).toMatchObject({ outcome: 'rolledBack', left: [] });
    expect(node.snapshot()).toEqual(found);
  });

  it('tells the token and the password of a proxy to no journal, manifest, error or plan', async () => {
    using node = new TestNode();
    const secret = {
      connectionInfo: new Secret(CANARY),
      environment: { HTTPS_PROXY: new Secret(`http://u:${CANARY}@p`) },
    };
    const desired = plainInstallation(node, secret);
    const plan = planInstall(await node.facts(desired), desired, editConfig);
    expect(JSON.stringify(plan)).not.toContain(CANARY);
    const count = await countOf(node, desired);
    for (let at = 1; at <= count; at += STRIDE) {
      using victim = new TestNode();
      const end = await victim
        .install({ ...desired, paths: victim.paths }, new Map([[at, 'EIO']]))
        .catch((error: unknown) => error);
      expect(inspectAll(end)).not.toContain(CANARY);
      for (const name of ['journal.jsonl', 'install-manifest.json']) {
        const file = path.join(victim.paths.stateFolder, name);
        if (existsSync(file)) expect(readFileSync(file, 'utf8')).not.toContain(CANARY);
      }
    }
    await node.install(desired);
    expect(
      readFileSync(path.join(node.paths.stateFolder, 'install-manifest.json'), 'utf8'),
    ).not.toContain(CANARY);
    expect(readFileSync(node.paths.connectionInfo, 'utf8')).toBe(CANARY);
  });

  it('that is undone waits for the daemon that it had stopped, and says so when that does not answer', async () => {
    for (const isWell of [true, false]) {
      using node = new TestNode();
      await prepare(node, {
        service: 'running',
        environment: {},
        hasFolders: false,
        weakFolder: false,
      });
      let asked = 0;
      const answers = (): Promise<void> => {
        expect([...node.running]).toEqual(['rancher-wins']);
        asked += 1;
        return isWell ? Promise.resolve() : Promise.reject(new Error('no one'));
      };
      const desired = desiredOf(node, { version: 'v1.1.0' });
      const end = await node.install(desired, undefined, { ...failingProof, answers });
      expect(end).toMatchObject({ outcome: 'rolledBack', cause: { code: 'unproven' } });
      const cause = 'cause' in end ? end.cause.message : '';
      expect([asked, cause.includes('does not answer: no one')]).toEqual([1, !isWell]);
    }
  });

  it('of another service than the daemon names that service when it is not healthy', async () => {
    using node = new TestNode();
    const desired = plainInstallation(node);
    const { context } = node.context(undefined, failingProof);
    const plan = planInstall(await readFacts(context, desired), desired, editConfig);
    if (plan.kind !== 'steps') throw new Error(plan.reason);
    const other = Object.assign(context.host, { subject: 'the other service' });
    expect(await applyPlan({ ...context, host: other }, plan)).toMatchObject({
      outcome: 'rolledBack',
      cause: { code: 'unproven', message: 'the other service is not healthy: no answer' },
    });
  });

  it('that is undone tells its first cause, also when its own folder cannot be removed then', async () => {
    const before: Before = {
      service: 'running',
      environment: {},
      hasFolders: false,
      weakFolder: false,
    };
    using first = new TestNode();
    await prepare(first, before);
    await first.install(desiredOf(first, { version: 'v1.1.0' }), undefined, failingProof);
    const at = first.effects.indexOf('remove state folder') + 1;
    using node = new TestNode();
    await prepare(node, before);
    const answers = (): Promise<void> => Promise.reject(new Error('no one'));
    const desired = desiredOf(node, { version: 'v1.1.0' });
    const end = node.install(desired, new Map([[at, 'EIO']]), { ...failingProof, answers });
    await expect(end).rejects.toMatchObject({
      code: 'notUndone',
      message: expect.stringMatching(/: no answer; then .*: no one; then EIO.* retries/) as string,
      cause: { code: 'unproven' },
    });
  });

  it('that was interrupted and is undone tells that the daemon before does not answer', async () => {
    using node = new TestNode();
    const before: Before = {
      service: 'running',
      environment: {},
      hasFolders: false,
      weakFolder: false,
    };
    await prepare(node, before);
    const desired = desiredOf(node, { version: 'v1.1.0' });
    await node.install(desired, new Map([[await countOf(node, desired, before), 'before']]));
    const answers = (): Promise<void> => Promise.reject(new Error('no one'));
    await expect(finishOrUndo(node.context(undefined, { answers }).context)).resolves.toEqual({
      outcome: 'undone',
      left: [],
      problem: 'the daemon was restarted as before, but does not answer: no one',
    });
  });

  it('that is undone waits for the daemon until its signal ends that, and a moment when it was what ended it', async () => {
    const before: Before = {
      service: 'running',
      environment: {},
      hasFolders: false,
      weakFolder: false,
    };
    for (const isEnded of [false, true]) {
      using node = new TestNode();
      await prepare(node, before);
      const desired = desiredOf(node, { version: 'v1.1.0' });
      await node.install(desired, new Map([[await countOf(node, desired, before), 'before']]));
      const aborter = new AbortController();
      const end = (): void => aborter.abort(new Error('it ends'));
      if (isEnded) end();
      const answers: ItemHost['answers'] = ({ signal } = {}) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
          if (!isEnded) end();
          else if (signal?.aborted === false) resolve();
        });
      const { context } = node.context(undefined, { answers });
      const recovered = await finishOrUndo({ ...context, signal: aborter.signal });
      const problem = recovered?.outcome === 'undone' ? recovered.problem : 'not undone';
      expect([isEnded, problem?.endsWith('it ends')]).toEqual([
        isEnded,
        isEnded ? undefined : true,
      ]);
    }
  });

  it('leaves what someone else changed meanwhile, and says so', async () => {
    using node = new TestNode();
    const desired = plainInstallation(node);
    const prove = (): Promise<void> => {
      writeFileSync(node.paths.config, 'by hand');
      return Promise.reject(new Error('no answer'));
    };
    const end = await node.install(desired, undefined, { prove });
    expect(end).toMatchObject({ outcome: 'rolledBack', cause: { code: 'unproven' } });
    expect(end).toHaveProperty('left.0.item', { kind: 'file', path: node.paths.config });
    expect(readFileSync(node.paths.config, 'utf8')).toBe('by hand');
  });

  it.each([
    ['a folder that is a link', (node: TestNode) => symlinkSync('/tmp', node.paths.dataFolder)],
    [
      'a folder above that others can write to',
      (node: TestNode) => chmodSync(path.dirname(node.paths.dataFolder), 0o777),
    ],
    [
      'a config that others can write to',
      (node: TestNode) => {
        node.put(node.paths.config, 'white_list: theirs\n');
        chmodSync(node.paths.config, 0o666);
      },
    ],
  ])('is refused in %s, and touches nothing', async (_what, spoil) => {
    using node = new TestNode();
    mkdirSync(path.dirname(node.paths.dataFolder), { recursive: true });
    spoil(node);
    const found = node.snapshot();
    const end = await node.install(plainInstallation(node));
    expect(end).toMatchObject({ outcome: 'refused' });
    expect(node.snapshot()).toEqual(found);
  });

  it('takes over a folder of programs that others could write to, unless it contains something of theirs', async () => {
    using node = new TestNode();
    mkdirSync(node.paths.programFolder, { recursive: true });
    chmodSync(node.paths.programFolder, 0o777);
    const planted = path.join(node.paths.programFolder, 'planted');
    writeFileSync(planted, '');
    chmodSync(planted, 0o666);
    await expect(node.install(plainInstallation(node))).resolves.toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining(planted) as unknown,
    });
    chmodSync(planted, 0o644);
    await expect(node.install(plainInstallation(node))).resolves.toEqual({ outcome: 'installed' });
  });

  it('ends between two steps when its signal says so, and is undone', async () => {
    using node = new TestNode();
    const found = node.snapshot();
    const desired = plainInstallation(node);
    const aborter = new AbortController();
    const { context } = node.context();
    const plan = planInstall(await node.facts(desired), desired, editConfig);
    if (plan.kind !== 'steps') throw new Error('a plan is expected');
    const { applyPlan } = await import('./apply-plan.js');
    let writes = 0;
    const around = <T>(effect: string, action: () => Promise<T>): Promise<T> => {
      if (effect.startsWith('write folder') && (writes += 1) === 3) aborter.abort();
      return action();
    };
    const end = await applyPlan({ ...context, around, signal: aborter.signal }, plan);
    expect(end).toMatchObject({ outcome: 'rolledBack' });
    expect(node.snapshot()).toEqual(found);
  });
});

async function countOf(
  _node: TestNode,
  desired: DesiredInstallation,
  before: Before = {
    service: 'running',
    rke2: 'linked',
    environment: { HTTPS_PROXY: 'old' },
    hasFolders: false,
    weakFolder: false,
  },
): Promise<number> {
  using other = new TestNode();
  await prepare(other, before);
  await other.install({ ...desired, paths: other.paths });
  return other.effects.findIndex((effect) => effect.includes('proven'));
}

async function recoveryOf(before: Before): Promise<readonly string[]> {
  using node = new TestNode();
  await prepare(node, before);
  const desired = desiredOf(node, {
    version: 'v1.1.0',
    environment: { HTTPS_PROXY: new Secret('p') },
  });
  await node.install(desired, new Map([[await countOf(node, desired), 'before']]));
  await node.recover();
  return node.effects;
}

async function countEffects(before: Before, more: Choices): Promise<number> {
  using node = new TestNode();
  await prepare(node, before);
  await node.install(desiredOf(node, more));
  return node.effects.length;
}

async function dieAt(before: Before, more: Choices, at: number, fault: Fault): Promise<void> {
  using node = new TestNode();
  await prepare(node, before);
  const found = node.snapshot();
  const desired = desiredOf(node, more);
  expect(await node.install(desired, new Map([[at, fault]]))).toEqual({ outcome: 'died' });
  await node.recover();
  const now = node.snapshot();
  if (!existsSync(path.join(node.paths.stateFolder, 'install-manifest.json'))) {
    expect({ at, fault, now }).toEqual({ at, fault, now: found });
    await expect(node.install(desired)).resolves.toEqual({ outcome: 'installed' });
  }
  const again = await node.install(desired);
  expect({ at, fault, ...again }).toMatchObject({ at, fault, outcome: 'nothing' });
  expect(node.running.has('rancher-wins')).toBe(true);
  expect(readdirSync(node.paths.stateFolder)).toEqual(['install-manifest.json']);
}

function inspectAll(value: unknown): string {
  if (!(value instanceof Error))
    return JSON.stringify(value ?? '', (_key, each: unknown) =>
      each instanceof Error ? inspectAll(each) : each,
    );
  return `${value.message} ${value.stack ?? ''} ${inspectAll(value.cause)}`;
}
