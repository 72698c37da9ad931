import * as fc from 'fast-check';
import { itemId, type Item, type StateOf } from '../item/item.js';
import type { Step } from '../item/step.js';
import {
  plannedActions,
  planService,
  type DesiredService,
  type ServiceFacts,
  type ServicePlan,
  type ServiceRelease,
} from './plan-service.js';
import type { KeptServiceKind } from './service-node.js';

const SERVICE = { kind: 'service', name: 'csiproxy' } as const;
const RUNNING = { kind: 'running', service: SERVICE.name } as const;
const KIND: KeptServiceKind = {
  item: SERVICE,
  subject: 'csi-proxy',
  pipe: 'pipe',
  programName: 'csi-proxy.exe',
  log: 'csi-proxy.log',
  programOf: (command) => /^"([^"]+)"/.exec(command)?.[1],
  commandOf: (program, args) => [`"${program}"`, ...args].join(' '),
};
const HOME = '/csi';
const GO = '/System32/csi-proxy.exe';
const FOREIGN = '/aks/csi-proxy.exe';
const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
const DESIRED: DesiredService = {
  version: 'v1.1.3',
  args: ['-windows-service'],
  folder: HOME,
};
const folderOf = (version: string, digest: string) => `${HOME}/${version}-${digest.slice(0, 12)}`;
const programOf = (version: string, digest: string) => `${folderOf(version, digest)}/csi-proxy.exe`;
const OLD = programOf('v1.1.2', A);
const NEW = programOf('v1.1.3', B);
const RECORD = { kind: 'file', path: `${HOME}/state.json` } as const;

const fileOf = (path: string) => ({ kind: 'file', path }) as const;
const programState = { sha256: C, access: 'executable' };
const entriesOf = (version: string, digest: string): readonly Step[] => [
  { item: { kind: 'folder', path: folderOf(version, digest) }, to: { access: 'private' } },
  { item: fileOf(programOf(version, digest)), to: programState },
];

const SERVICE_ENTRY: Step = {
  item: SERVICE,
  to: { command: KIND.commandOf(NEW, []), startType: 'automatic' },
};

interface Node {
  readonly program?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly isDisabled?: boolean;
  readonly isRunning?: boolean;
  readonly isServing?: boolean;
  readonly removesAdopted?: boolean;
  readonly entries?: readonly Step[] | undefined;
  readonly pins?: Readonly<Record<string, string>>;
  /** Programs that lie on the node as recorded. */
  readonly there?: readonly string[];
}

function factsOf(node: Node): ServiceFacts {
  const { program, args = DESIRED.args, entries, there = [] } = node;
  const states = new Map<string, StateOf>();
  for (const path of there) states.set(itemId(fileOf(path)), programState);
  for (const { item, to } of entries ?? [])
    if (to !== undefined && (!('path' in item) || !item.path.endsWith('.exe')))
      states.set(itemId(item), to);
  states.delete(itemId(SERVICE));
  if (program !== undefined) {
    const startType = node.isDisabled === true ? 'disabled' : 'automatic';
    states.set(itemId(SERVICE), { command: KIND.commandOf(program, args), startType });
    if (node.isRunning === true) states.set(itemId(RUNNING), 'present');
  }
  return {
    platform: 'linux',
    states,
    folders: new Map(),
    manifest: entries && { format: 1, isAdopted: false, entries },
    kind: KIND,
    adoptedProgram: GO,
    record: RECORD.path,
    pins: node.pins ?? {},
    program,
    isServing: node.isServing ?? false,
    removesAdopted: node.removesAdopted ?? false,
  };
}

/** A node on which the release serves, as this daemon has installed it. */
function wellWith(version: string, digest: string): ServiceFacts {
  const program = programOf(version, digest);
  const entries = [...entriesOf(version, digest), SERVICE_ENTRY];
  const node = { program, entries, there: [program], pins: { [version]: digest } };
  const facts = factsOf({ ...node, isRunning: true, isServing: true });
  return reached(facts, planService({ ...DESIRED, version }, facts));
}

const RELEASE: ServiceRelease = { archiveSha256: B, programSha256: C, content: new Uint8Array() };

/** Returns the facts after all steps of a plan. */
function reached(facts: ServiceFacts, { change, removal, adopted }: ServicePlan): ServiceFacts {
  const states = new Map(facts.states);
  const entries = new Map<string, Step>();
  for (const entry of (adopted ?? facts.manifest)?.entries ?? [])
    entries.set(itemId(entry.item), entry);
  let { isServing, pins } = facts;
  for (const { item, to } of [...(change?.steps ?? []), ...(removal?.steps ?? [])]) {
    if (to === undefined) states.delete(itemId(item));
    else states.set(itemId(item), to);
    if (item.kind === 'running') isServing = to !== undefined;
    else if (to === undefined) entries.delete(itemId(item));
    else entries.set(itemId(item), { item, to });
  }
  for (const content of change?.contents.values() ?? []) {
    const text = content instanceof Uint8Array ? Buffer.from(content).toString() : '';
    if (text !== '') ({ pins } = JSON.parse(text) as Pick<ServiceFacts, 'pins'>);
  }
  const state = states.get(itemId(SERVICE)) as StateOf<'service'> | undefined;
  const program = KIND.programOf(state?.command ?? '');
  const manifest = { format: 1, isAdopted: false, entries: [...entries.values()] } as const;
  return {
    ...facts,
    states,
    manifest: entries.size > 0 ? manifest : undefined,
    program,
    isServing,
    pins,
  };
}

/** Plans, and plans again with the download if the first plan asks for one. */
function fullPlan(desired: DesiredService | undefined, facts: ServiceFacts): ServicePlan {
  const first = planService(desired, facts);
  if (first.fetch === undefined) return first;
  const archiveSha256 = first.fetch.sha256 ?? B;
  return planService(desired, facts, { ...RELEASE, archiveSha256 });
}

const kinds = ({ change }: ServicePlan): readonly string[] =>
  (change?.steps ?? []).map(({ item, to }) => `${to === undefined ? '-' : '+'}${item.kind}`);

describe('the plan', () => {
  it('is nothing for a node on which the wanted release serves', () => {
    const plan = planService(DESIRED, wellWith('v1.1.3', B));
    expect(plan).toMatchObject({ reason: 'v1.1.3 serves', isServing: true });
    expect(plannedActions(plan)).toEqual([{ action: 'rest', reason: 'v1.1.3 serves' }]);
  });

  it('changes the arguments without a download', () => {
    const plan = planService({ ...DESIRED, args: ['-v=4'] }, wellWith('v1.1.3', B));
    expect([plan.fetch, kinds(plan)]).toEqual([undefined, ['-running', '+service', '+running']]);
  });

  it('fetches another archive of the same version when the config names its digest', () => {
    const plan = planService({ ...DESIRED, sha256: A }, wellWith('v1.1.3', B));
    expect(plan.fetch).toEqual({ sha256: A });
    expect(plan.removal?.steps.map(({ item }) => itemId(item))).toEqual([
      `file ${NEW}`,
      `folder ${folderOf('v1.1.3', B)}`,
    ]);
  });

  it('asks for the digest that was seen first', () => {
    expect(planService(DESIRED, factsOf({ pins: { 'v1.1.3': A } })).fetch).toEqual({ sha256: A });
    expect(planService(DESIRED, factsOf({ pins: { constructor: A } })).fetch).toEqual({
      sha256: undefined,
    });
  });

  it('starts a stopped service, and waits before it restarts one without a pipe', () => {
    const well = wellWith('v1.1.3', B);
    const states = new Map(well.states);
    states.delete(itemId(RUNNING));
    const stopped = planService(DESIRED, { ...well, states, isServing: false });
    expect([kinds(stopped), stopped.isStarting]).toEqual([['+running'], false]);
    const mute = planService(DESIRED, { ...well, isServing: false });
    expect([kinds(mute), mute.isStarting]).toEqual([['-running', '+running'], true]);
  });

  it('leaves alone a service whose command names no program', () => {
    const facts = { ...factsOf({ program: FOREIGN, isRunning: true }), program: undefined };
    expect(planService(DESIRED, facts)).toMatchObject({
      reason: expect.stringMatching(/an unknown program, which another installer/) as string,
      isServing: false,
    });
  });

  it('without a section removes what is ours, and nothing else', () => {
    const { removal } = planService(undefined, wellWith('v1.1.3', B));
    expect(removal?.steps.map(({ item }) => item.kind)).toEqual([
      'running',
      'service',
      'file',
      'file',
      'folder',
    ]);
    for (const program of [GO, FOREIGN, undefined])
      expect(planService(undefined, factsOf({ program })).removal).toBeUndefined();
    // Another installer has replaced the command of the service.
    const entries = [...entriesOf('v1.1.3', B), SERVICE_ENTRY];
    const taken = planService(undefined, factsOf({ program: FOREIGN, entries, there: [NEW] }));
    expect(taken.removal?.steps.map(({ item }) => item.kind)).toEqual(['file', 'folder']);
    const go = planService(undefined, factsOf({ program: GO, there: [GO], removesAdopted: true }));
    expect(go.removal?.steps.map(({ item }) => item.kind)).toEqual(['service', 'file']);
  });

  const programs = [OLD, NEW, programOf('v1.1.3', A), GO, FOREIGN];
  const owned: readonly Item[] = [fileOf(GO), RECORD];
  const someNode: fc.Arbitrary<Node> = fc.record({
    program: fc.option(fc.constantFrom(...programs), { nil: undefined }),
    args: fc.constantFrom(DESIRED.args, ['-v=4']),
    isDisabled: fc.boolean(),
    isRunning: fc.boolean(),
    isServing: fc.boolean(),
    removesAdopted: fc.boolean(),
    pins: fc.constantFrom({}, { 'v1.1.3': A }, { 'v1.1.3': B, 'v1.1.2': A }),
    entries: fc.option(
      fc
        .tuple(
          fc.subarray([entriesOf('v1.1.2', A), entriesOf('v1.1.3', B), entriesOf('v1.1.3', A)]),
          fc.subarray(owned.map((item): Step => ({ item, to: programState }))),
          fc.subarray<Step>([SERVICE_ENTRY]),
        )
        .map((parts) => parts.flat(2)),
      { nil: undefined },
    ),
    there: fc.subarray(programs),
  });
  const someDesired: fc.Arbitrary<DesiredService | undefined> = fc.option(
    fc
      .record({
        version: fc.constantFrom('v1.1.2', 'v1.1.3'),
        sha256: fc.constantFrom(A, B, undefined),
        args: fc.constantFrom(DESIRED.args, ['-v=4']),
      })
      .map(({ sha256, ...more }) => ({
        ...DESIRED,
        ...more,
        ...(sha256 !== undefined && { sha256 }),
      })),
    { nil: undefined },
  );

  it('leads from every node to one that a second plan leaves as it is', () => {
    fc.assert(
      fc.property(someNode, someDesired, (node, desired) => {
        const facts = factsOf(node);
        const after = reached(facts, fullPlan(desired, facts));
        const { fetch, change, removal = { steps: [] } } = planService(desired, after);
        expect([fetch, change, removal.steps]).toEqual([undefined, undefined, []]);
      }),
      { numRuns: 500 },
    );
  });

  it('never has the service run what was not verified, and never touches what is not ours', () => {
    fc.assert(
      fc.property(someNode, someDesired, (node, desired) => {
        const facts = factsOf(node);
        const plan = fullPlan(desired, facts);
        const after = reached(facts, plan);
        const isStarted =
          plan.change?.steps.some(({ item }) => itemId(item) === itemId(RUNNING)) === true;
        if (isStarted)
          expect(after.states.get(itemId(fileOf(after.program ?? '')))).toEqual(programState);
        const steps = [...(plan.change?.steps ?? []), ...(plan.removal?.steps ?? [])];
        const ours = (node.entries ?? []).map(({ item }) => itemId(item));
        const isOurs = node.program === undefined || ours.includes(itemId(fileOf(node.program)));
        if (isOurs || node.program === GO) return;
        const touched = steps.map(({ item }) => item.kind);
        expect(touched.filter((kind) => kind === 'service' || kind === 'running')).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
