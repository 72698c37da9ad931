import { itemId, type Item, type StateOf } from '../item/item.js';
import { describeStep } from '../item/step.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { editConfig } from '../testing/node-harness.js';
import { installPlaces } from '../wish/install-places.js';
import type { InstallWish } from '../wish/install-wish.js';
import { Secret } from '../wish/secret.js';
import { describePlan, type InstallPlan, type StepPlan } from './plan.js';
import { planInstall, planSuc } from './plan-install.js';

const places = installPlaces('win32');
const NEW = { file: 'C:\\staged', sha256: 'b'.repeat(64), version: 'v1.1.0' };
const SERVICE = { command: `"${places.program}" srv app run`, startType: 'automatic' } as const;
const running: Item = { kind: 'running', service: 'rancher-wins' };

function wishOf(more: Partial<InstallWish> = {}): InstallWish {
  return { places, service: 'rancher-wins', ...more };
}

function installed(
  more: Partial<NodeFacts> = {},
  states: readonly [Item, StateOf][] = [],
): NodeFacts {
  const all: [Item, StateOf][] = [
    [{ kind: 'service', name: 'rancher-wins' }, SERVICE],
    [{ kind: 'program', path: places.program }, { sha256: 'a'.repeat(64) }],
    [
      { kind: 'file', path: places.program },
      { sha256: 'a'.repeat(64), access: 'executable' },
    ],
    [running, 'present'],
    ...states,
  ];
  return {
    ...{ platform: 'win32', folders: new Map(), isServiceBeingRemoved: false },
    states: new Map(all.map(([item, state]) => [itemId(item), state])),
    program: { path: places.program, version: 'v1.0.0' },
    ...more,
  };
}

function acts(plan: InstallPlan): string[] {
  if (plan.kind !== 'steps') throw new Error(plan.reason);
  return plan.steps.map((step) => describeStep(step).replace(/: .*/, ''));
}

describe('a plan', () => {
  const weak = {
    rule: 'A7 writable by other users',
    path: 'C:\\usr',
    found: 'Users can write to it',
  } as const;

  it.each<[string, NodeFacts, InstallWish, string]>([
    [
      'an older release',
      installed(),
      wishOf({ program: { ...NEW, version: 'v0.9.0' } }),
      '--allow-downgrade',
    ],
    [
      'a release that says it is none',
      installed(),
      wishOf({ program: { ...NEW, version: 'dev' } }),
      '--allow-downgrade',
    ],
    [
      'the same release with another digest',
      installed(),
      wishOf({ program: { ...NEW, version: 'v1.0.0' } }),
      '--allow-downgrade',
    ],
    [
      'a disabled service',
      installed({}, [
        [
          { kind: 'service', name: 'rancher-wins' },
          { ...SERVICE, startType: 'disabled' },
        ],
      ]),
      wishOf(),
      'the service rancher-wins',
    ],
    [
      'a service that waits for its removal',
      installed({ isServiceBeingRemoved: true }),
      wishOf(),
      'the service rancher-wins',
    ],
    [
      'a weak folder above',
      installed({ folders: new Map([[places.programFolder, { distrust: weak, strangers: [] }]]) }),
      wishOf(),
      'others could change',
    ],
    [
      'a folder that is a link',
      installed({
        folders: new Map([
          [
            places.dataFolder,
            {
              distrust: {
                rule: 'A7 link or junction',
                path: places.dataFolder,
                found: 'it is a junction',
              },
              strangers: [],
            },
          ],
        ]),
      }),
      wishOf(),
      'others could change',
    ],
    [
      'a folder of another owner',
      installed({
        folders: new Map([
          [
            places.dataFolder,
            {
              distrust: { ...weak, rule: 'A7 owned by another user', path: places.dataFolder },
              strangers: [],
            },
          ],
        ]),
      }),
      wishOf(),
      'others could change',
    ],
    [
      'strict TLS without authorities',
      installed(),
      wishOf({ config: { agentStrictTLSMode: true } }),
      'strict TLS trusts only',
    ],
    [
      'a node of a server without connection info',
      installed(),
      wishOf({ config: { 'systemagent.remoteEnabled': true } }),
      'needs connection info',
    ],
    [
      'another id',
      installed({ nodeId: 'abc\r\n' }),
      wishOf({ nodeId: 'def' }),
      'would become another machine',
    ],
    [
      'no program',
      { ...installed(), states: new Map(), program: undefined },
      wishOf(),
      'there is no program',
    ],
  ])('is refused for %s', (_what, facts, wish, found) => {
    for (const plan of [planInstall, planSuc]) {
      if (plan === planSuc && facts.states.size === 0) continue;
      expect(plan(facts, wish, editConfig)).toMatchObject({
        kind: 'refusal',
        reason: expect.stringContaining(found) as unknown,
      });
    }
  });

  it('is refused when the config cannot be changed, with the reason', () => {
    const broken = (): Buffer => {
      throw new Error('line 3: a tab');
    };
    expect(planSuc(installed(), wishOf(), broken)).toMatchObject({
      kind: 'refusal',
      reason: expect.stringContaining('the config cannot be changed: line 3') as unknown,
    });
  });

  it('takes an older release, and another of the same, when it may', () => {
    for (const version of ['v0.9.0', 'v1.0.0', 'dev']) {
      const wish = wishOf({ program: { ...NEW, version }, allowDowngrade: true });
      expect(planSuc(installed(), wish, editConfig).kind).toBe('steps');
    }
  });

  it('repairs an id that no server takes', () => {
    for (const nodeId of ['', ' \r\n', 'x'.repeat(64)]) {
      const plan = planSuc(
        installed({ nodeId, config: Buffer.alloc(0) }),
        wishOf({ nodeId: 'abc' }),
        editConfig,
      );
      expect(acts(plan)).toContain(`make file ${places.nodeId}`);
    }
  });

  it('of an upgrade is refused where nothing is installed', () => {
    const facts = { ...installed(), states: new Map() };
    expect(planSuc(facts, wishOf(), editConfig)).toEqual({
      kind: 'refusal',
      reason: 'there is no service rancher-wins on this node',
    });
  });

  it('restarts the daemon only when what it has read becomes another', () => {
    const facts = installed();
    const quiet = planSuc(facts, wishOf({ startType: 'delayed' }), editConfig);
    expect(acts(quiet)).not.toContain('stop rancher-wins');
    const info = planSuc(facts, wishOf({ connectionInfo: new Secret('{}') }), editConfig);
    expect(acts(info)).toEqual(expect.arrayContaining(['stop rancher-wins', 'start rancher-wins']));
  });

  it('restarts a daemon that has read something that is not there any more', () => {
    const file: [Item, StateOf] = [
      { kind: 'file', path: places.config },
      {
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        access: 'private',
      },
    ];
    const facts = installed({ config: Buffer.alloc(0) }, [file]);
    expect(planSuc(facts, wishOf(), editConfig).kind).toBe('nothing');
    const loaded = new Map([[places.config, 'c'.repeat(64)]]);
    expect(acts(planSuc({ ...facts, loaded }, wishOf(), editConfig))).toEqual([
      'stop rancher-wins',
      'start rancher-wins',
    ]);
  });

  it('lifts the dependency of rke2 while the daemon is stopped, and swaps the program last', () => {
    const link: Item = { kind: 'dependency', service: 'rke2', on: 'rancher-wins' };
    const facts = installed({ config: Buffer.from('x\n') }, [
      [link, 'present'],
      [{ kind: 'running', service: 'rke2' }, 'present'],
      [{ kind: 'service', name: 'rke2' }, SERVICE],
    ]);
    const wish = wishOf({
      program: NEW,
      environment: { HTTPS_PROXY: new Secret('p') },
      isRke2Dependent: true,
    });
    expect(acts(planSuc(facts, wish, editConfig))).toEqual([
      'remove dependency rke2 rancher-wins',
      'stop rancher-wins',
      `make file ${places.config}`,
      'make variable rancher-wins HTTPS_PROXY',
      `change program ${places.program}`,
      'start rancher-wins',
      'make dependency rke2 rancher-wins',
    ]);
  });

  it('is shown without a secret', () => {
    const wish = wishOf({
      connectionInfo: new Secret('canary'),
      environment: { HTTPS_PROXY: new Secret('canary') },
    });
    const plan = planSuc(installed(), wish, editConfig) as StepPlan;
    expect(describePlan(plan).join('\n')).not.toContain('canary');
  });
});

it('leaves the folders of plans to a daemon that is installed: it removes and makes them', () => {
  const folder = `folder ${places.workFolder}`;
  const plan = planInstall(installed(), wishOf(), editConfig);
  expect(acts(plan).join('\n')).not.toContain(folder);
  const { states } = installed();
  const others = new Map([...states].filter(([id]) => !/^(service|running|program) /.test(id)));
  const { program: _program, ...bare } = installed({ states: others });
  const first = planInstall(bare, wishOf({ program: NEW, allowDowngrade: true }), editConfig);
  expect(acts(first).join('\n')).toContain(folder);
});
