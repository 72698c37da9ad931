import { itemId, type Item, type StateOf } from '../item/item.js';
import { describeStep } from '../item/step.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { editConfig } from '../testing/node-harness.js';
import { installPaths } from '../desired/install-paths.js';
import type { DesiredInstallation } from '../desired/desired-installation.js';
import { Secret } from '../desired/secret.js';
import { describePlan, type InstallPlan, type StepPlan } from './plan.js';
import { planInstall, planSuc } from './plan-install.js';

const paths = installPaths('win32');
const NEW = { file: 'C:\\staged', sha256: 'b'.repeat(64), version: 'v1.1.0' };
const SERVICE = { command: `"${paths.program}" srv app run`, startType: 'automatic' } as const;
const running: Item = { kind: 'running', service: 'rancher-wins' };

function desiredOf(more: Partial<DesiredInstallation> = {}): DesiredInstallation {
  return { paths, service: 'rancher-wins', ...more };
}

function installed(
  more: Partial<NodeFacts> = {},
  states: readonly [Item, StateOf][] = [],
): NodeFacts {
  const all: [Item, StateOf][] = [
    [{ kind: 'service', name: 'rancher-wins' }, SERVICE],
    [{ kind: 'program', path: paths.program }, { sha256: 'a'.repeat(64) }],
    [
      { kind: 'file', path: paths.program },
      { sha256: 'a'.repeat(64), access: 'executable' },
    ],
    [running, 'present'],
    ...states,
  ];
  return {
    platform: 'win32',
    folders: new Map(),
    isServiceBeingRemoved: false,
    states: new Map(all.map(([item, state]) => [itemId(item), state])),
    program: { path: paths.program, version: 'v1.0.0' },
    ...more,
  };
}

function actions(plan: InstallPlan): string[] {
  if (plan.kind !== 'steps') throw new Error(plan.reason);
  return plan.steps.map((step) => describeStep(step).replace(/: .*/, ''));
}

describe('a plan', () => {
  const weak = {
    rule: 'A7 writable by other users',
    path: 'C:\\usr',
    found: 'Users can write to it',
  } as const;

  it.each<[string, NodeFacts, DesiredInstallation, string]>([
    [
      'an older release',
      installed(),
      desiredOf({ program: { ...NEW, version: 'v0.9.0' } }),
      '--allow-downgrade',
    ],
    [
      'a release that says it is none',
      installed(),
      desiredOf({ program: { ...NEW, version: 'dev' } }),
      '--allow-downgrade',
    ],
    [
      'the same release with another digest',
      installed(),
      desiredOf({ program: { ...NEW, version: 'v1.0.0' } }),
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
      desiredOf(),
      'the service rancher-wins',
    ],
    [
      'a service that waits for its removal',
      installed({ isServiceBeingRemoved: true }),
      desiredOf(),
      'the service rancher-wins',
    ],
    [
      'a weak folder above',
      installed({ folders: new Map([[paths.programFolder, { distrust: weak, strangers: [] }]]) }),
      desiredOf(),
      'others could change',
    ],
    [
      'a folder that is a link',
      installed({
        folders: new Map([
          [
            paths.dataFolder,
            {
              distrust: {
                rule: 'A7 link or junction',
                path: paths.dataFolder,
                found: 'it is a junction',
              },
              strangers: [],
            },
          ],
        ]),
      }),
      desiredOf(),
      'others could change',
    ],
    [
      'a folder of another owner',
      installed({
        folders: new Map([
          [
            paths.dataFolder,
            {
              distrust: { ...weak, rule: 'A7 owned by another user', path: paths.dataFolder },
              strangers: [],
            },
          ],
        ]),
      }),
      desiredOf(),
      'others could change',
    ],
    [
      'strict TLS without authorities',
      installed(),
      desiredOf({ config: { agentStrictTLSMode: true } }),
      'strict TLS trusts only',
    ],
    [
      'a node of a server without connection info',
      installed(),
      desiredOf({ config: { 'systemagent.remoteEnabled': true } }),
      'needs connection info',
    ],
    [
      'another id',
      installed({ nodeId: 'abc\r\n' }),
      desiredOf({ nodeId: 'def' }),
      'would become another machine',
    ],
    [
      'no program',
      { ...installed(), states: new Map(), program: undefined },
      desiredOf(),
      'there is no program',
    ],
  ])('is refused for %s', (_what, facts, desired, found) => {
    for (const plan of [planInstall, planSuc]) {
      if (plan === planSuc && facts.states.size === 0) continue;
      expect(plan(facts, desired, editConfig)).toMatchObject({
        kind: 'refusal',
        reason: expect.stringContaining(found) as unknown,
      });
    }
  });

  it('is refused when the config cannot be changed, with the reason', () => {
    const broken = (): Buffer => {
      throw new Error('line 3: a tab');
    };
    expect(planSuc(installed(), desiredOf(), broken)).toMatchObject({
      kind: 'refusal',
      reason: expect.stringContaining('the config cannot be changed: line 3') as unknown,
    });
  });

  it('takes an older release, and another of the same, when it may', () => {
    for (const version of ['v0.9.0', 'v1.0.0', 'dev']) {
      const desired = desiredOf({ program: { ...NEW, version }, allowDowngrade: true });
      expect(planSuc(installed(), desired, editConfig).kind).toBe('steps');
    }
  });

  it('repairs an id that no server takes', () => {
    for (const nodeId of ['', ' \r\n', 'x'.repeat(64)]) {
      const plan = planSuc(
        installed({ nodeId, config: Buffer.alloc(0) }),
        desiredOf({ nodeId: 'abc' }),
        editConfig,
      );
      expect(actions(plan)).toContain(`make file ${paths.nodeId}`);
    }
  });

  it('of an upgrade is refused where nothing is installed', () => {
    const facts = { ...installed(), states: new Map() };
    expect(planSuc(facts, desiredOf(), editConfig)).toEqual({
      kind: 'refusal',
      reason: 'there is no service rancher-wins on this node',
    });
  });

  it('restarts the daemon only when what it has read becomes another', () => {
    const facts = installed();
    const quiet = planSuc(facts, desiredOf({ startType: 'delayed' }), editConfig);
    expect(actions(quiet)).not.toContain('stop rancher-wins');
    const info = planSuc(facts, desiredOf({ connectionInfo: new Secret('{}') }), editConfig);
    expect(actions(info)).toEqual(
      expect.arrayContaining(['stop rancher-wins', 'start rancher-wins']),
    );
  });

  it('restarts a daemon that has read something that is not there any more', () => {
    const file: [Item, StateOf] = [
      { kind: 'file', path: paths.config },
      {
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        access: 'private',
      },
    ];
    const facts = installed({ config: Buffer.alloc(0) }, [file]);
    expect(planSuc(facts, desiredOf(), editConfig).kind).toBe('nothing');
    const loaded = new Map([[paths.config, 'c'.repeat(64)]]);
    expect(actions(planSuc({ ...facts, loaded }, desiredOf(), editConfig))).toEqual([
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
    const desired = desiredOf({
      program: NEW,
      environment: { HTTPS_PROXY: new Secret('p') },
      isRke2Dependent: true,
    });
    expect(actions(planSuc(facts, desired, editConfig))).toEqual([
      'remove dependency rke2 rancher-wins',
      'stop rancher-wins',
      `make file ${paths.config}`,
      'make variable rancher-wins HTTPS_PROXY',
      `change program ${paths.program}`,
      'start rancher-wins',
      'make dependency rke2 rancher-wins',
    ]);
  });

  it('is shown without a secret', () => {
    const desired = desiredOf({
      connectionInfo: new Secret('canary'),
      environment: { HTTPS_PROXY: new Secret('canary') },
    });
    const plan = planSuc(installed(), desired, editConfig) as StepPlan;
    expect(describePlan(plan).join('\n')).not.toContain('canary');
  });
});

it('leaves the folders of plans to a daemon that is installed: it removes and makes them', () => {
  const folder = `folder ${paths.workFolder}`;
  const plan = planInstall(installed(), desiredOf(), editConfig);
  expect(actions(plan).join('\n')).not.toContain(folder);
  const { states } = installed();
  const others = new Map([...states].filter(([id]) => !/^(service|running|program) /.test(id)));
  const { program: _program, ...bare } = installed({ states: others });
  const first = planInstall(bare, desiredOf({ program: NEW, allowDowngrade: true }), editConfig);
  expect(actions(first).join('\n')).toContain(folder);
});
