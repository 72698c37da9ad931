import type { ClientIdentity } from '@wins/base';
import type { WinsClient } from '@wins/wins-api';
import { featureServiceDefinition } from '@wins/wins-api/contract';
import { EventEmitter, once } from 'node:events';
import { featureAction } from '../../kernel/audit/decision.js';
import { problem } from '../../kernel/conditions/condition.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import type { Feature, FeatureChanges, Kernel, RunningFeature } from '../../kernel/feature.js';
import { AskedAs } from '../../testing/asked-as.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { createFeatureService } from './feature.js';

const LOST = {
  ...problem('plan', 'planLost', 'it is gone', 'find it'),
  source: 'agent',
  since: '2026-03-01T12:00:00.000Z',
};
const { read, plan, change } = featureServiceDefinition;
const FACTS = { facts: ['*'] };
const OPEN = featureAction('open', 'before', 'open the door');
const SHUT = featureAction('shut', 'before', 'shut the door');

interface Door extends RunningFeature<object> {
  readonly isOpen: boolean;
}

function doorFeature(name: string, changes?: Partial<FeatureChanges<Door>>): Feature<object, Door> {
  return {
    name,
    stage: 'works',
    purpose: 'keep a door',
    settings: () => ({}),
    start: () => ({ isOpen: true, close: () => undefined }),
    whenOff: { code: 'doorOff', message: (reason) => `cannot use the door: ${reason}` },
    facts: ({ isOpen }) => ({ isOpen }),
    ...(changes && {
      changes: {
        actions: { apply: OPEN, remove: undefined },
        make: () => Promise.resolve(),
        ...changes,
      },
    }),
  };
}

describe('the service of features', () => {
  const asked = new AskedAs();
  afterAll(() => asked[Symbol.dispose]());
  const { audit, decisions } = asked;

  /** A daemon whose features are the given ones, of which those with `off` in the name are off. */
  async function as<T>(
    client: ClientIdentity,
    features: readonly Feature<object, Door>[],
    question: (daemon: WinsClient) => Promise<T>,
  ): Promise<T> {
    const switches = features.map((feature) => new FeatureSwitch(feature, kernelOf()));
    for (const one of switches)
      await one.begin(one.feature.name.endsWith('off') ? { reason: 'nobody wants it' } : {});
    const kernel = {
      config: { inForce: () => ({ path: '/etc/config' }) } as Kernel['config'],
      conditions: () => [LOST],
      programFingerprint: 'the file',
      features: () => switches.map((view) => ({ feature: view.feature, view })),
      audit: audit as unknown as Kernel['audit'],
    } as unknown as Kernel;
    return asked.ask(
      client,
      (server, callers) =>
        server.addService(featureServiceDefinition, createFeatureService(kernel, callers)),
      question,
    );
  }

  it('has the process, the config and each condition with its time', async () => {
    const answer = await as(ADMINISTRATOR, [], (daemon) => daemon.call(read, { facts: [] }));
    expect(answer).toMatchObject({
      configFile: '/etc/config',
      pid: process.pid,
      programFingerprint: 'the file',
      features: [],
      conditions: [
        {
          check: 'plan',
          code: 'planLost',
          level: 'problem',
          found: 'it is gone',
          advice: 'find it',
          since: LOST.since,
        },
      ],
    });
    expect(Date.parse(answer.startedAt)).toBeLessThanOrEqual(Date.now());
  });

  it('has the facts of a feature, of all, or why there are none', async () => {
    const features = [doorFeature('front'), doorFeature('back-off')];
    const [front, back] = [
      { name: 'front', on: true, reason: '', facts: '{"isOpen":true}' },
      { name: 'back-off', on: false, reason: 'nobody wants it', facts: '' },
    ];
    await as(ADMINISTRATOR, features, async (daemon) => {
      expect((await daemon.call(read, FACTS)).features).toEqual([front, back]);
      expect((await daemon.call(read, { facts: ['back-off'] })).features).toEqual([back]);
      await expect(daemon.call(read, { facts: ['side'] })).rejects.toMatchObject({
        code: 'invalidRequest',
        details: 'cannot find the feature "side"; wanted one of front, back-off',
      });
    });
  });

  it('fails for a feature that cannot tell its facts, which does not hide those of the others', async () => {
    const torn: Feature<object, Door> = {
      ...doorFeature('torn'),
      facts: () => {
        throw new Error('the hinge is gone');
      },
    };
    await as(ADMINISTRATOR, [torn, doorFeature('front')], async (daemon) => {
      const twice = { facts: ['*', '*'] };
      expect((await daemon.call(read, twice)).features).toEqual([
        { name: 'torn', on: false, reason: 'cannot tell its state: the hinge is gone', facts: '' },
        { name: 'front', on: true, reason: '', facts: '{"isOpen":true}' },
      ]);
      await expect(daemon.call(read, { facts: ['torn'] })).rejects.toMatchObject({
        code: 'internal',
        details: 'the hinge is gone',
      });
    });
  });

  it('is for administrators alone, because it names runs and hosts of all clients (A94, A114)', async () => {
    const request = { names: ['front'], remove: false };
    await as(CONTAINER, [doorFeature('front', {})], async (daemon) => {
      const refused = { code: 'refused', reason: 'notAdministrator' };
      await expect(daemon.call(read, FACTS)).rejects.toMatchObject(refused);
      await expect(daemon.call(plan, request)).rejects.toMatchObject(refused);
      await expect(daemon.call(change, request)).rejects.toMatchObject(refused);
    });
    expect(decisions).toEqual([]);
  });

  it('says what a change would do, and records one before it is made', async () => {
    const made: string[] = [];
    const front = doorFeature('front', {
      actions: { apply: OPEN, remove: SHUT },
      plan: (_running, what) => Promise.resolve({ steps: [what] }),
      make: (_running, what) => Promise.resolve(made.push(`${what} after ${decisions.length}`)),
    });
    const names = ['front'];
    await as(ADMINISTRATOR, [front], async (daemon) => {
      expect((await daemon.call(plan, { names, remove: true })).features).toEqual([
        { name: 'front', on: true, reason: '', facts: '{"steps":["remove"]}' },
      ]);
      expect([decisions, made]).toEqual([[], []]);
      const { features } = await daemon.call(change, { names, remove: false });
      expect(features).toMatchObject([{ name: 'front', facts: '{"isOpen":true}' }]);
      await daemon.call(change, { names, remove: true });
    });
    expect(made).toEqual(['apply after 1', 'remove after 2']);
    expect(decisions.splice(0)).toMatchObject([
      { action: 'open', verdict: 'allowed', name: 'front', client: { uid: 0 } },
      { action: 'shut', verdict: 'allowed', name: 'front' },
    ]);
  });

  it('changes those of several features that are on, and fails if none is', async () => {
    const features = [doorFeature('front', {}), doorFeature('back-off', {}), doorFeature('side')];
    const of = (...names: string[]) => ({ names, remove: false });
    await as(ADMINISTRATOR, features, async (daemon) => {
      const changed = await daemon.call(change, of('back-off', 'front'));
      expect(changed.features).toMatchObject([
        { name: 'back-off', on: false, reason: 'nobody wants it' },
        { name: 'front', on: true },
      ]);
      await expect(daemon.call(change, of('back-off'))).rejects.toMatchObject({
        code: 'failedPrecondition',
        reason: 'doorOff',
        details: 'cannot use the door: nobody wants it',
      });
      await expect(daemon.call(change, of('side'))).rejects.toMatchObject({
        code: 'invalidRequest',
      });
      await expect(daemon.call(change, { names: ['front'], remove: true })).rejects.toMatchObject({
        details: 'cannot remove front: it makes no such change',
      });
    });
    expect(decisions.splice(0)).toHaveLength(1);
  });

  it('gives a change up when its caller goes away', async () => {
    const door = new EventEmitter();
    const front = doorFeature('front', {
      make: async (_running, _what, signal) => {
        door.emit('begun');
        await once(signal, 'abort');
        door.emit('left');
      },
    });
    await as(ADMINISTRATOR, [front], async (daemon) => {
      const [begun, left] = [once(door, 'begun'), once(door, 'left')];
      const caller = new AbortController();
      const request = { names: ['front'], remove: false };
      const changing = daemon.call(change, request, { signal: caller.signal });
      const ended = expect(changing).rejects.toMatchObject({ code: 'aborted' });
      await begun;
      caller.abort();
      await Promise.all([ended, left]);
    });
  });
});
