import { itemId, type Item, type StateOf, type Step } from '@wins/installation';
import { windowsCommandLine } from '@wins/windows-host';
import * as fc from 'fast-check';
import {
  planCsiProxy,
  planSteps,
  RUNNING,
  SERVICE,
  type CsiProxyNodeFacts,
  type CsiProxyPlan,
  type Release,
} from './plan-csi-proxy.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

const HOME = '/csi';
const GO = '/System32/csi-proxy.exe';
const FOREIGN = '/aks/csi-proxy.exe';
const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
const DESIRED: DesiredCsiProxy = {
  url: 'https://h/x',
  version: 'v1.1.3',
  args: ['-windows-service'],
  folder: HOME,
  trust: {},
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
  to: { command: windowsCommandLine(NEW, []), startType: 'automatic' },
};

interface Node {
  readonly program?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly isDisabled?: boolean;
  readonly isRunning?: boolean;
  readonly isServing?: boolean;
  readonly removesGo?: boolean;
  readonly entries?: readonly Step[] | undefined;
  readonly pins?: Readonly<Record<string, string>>;
  /** Programs that lie on the node as recorded. */
  readonly there?: readonly string[];
}

function factsOf(node: Node): CsiProxyNodeFacts {
  const { program, args = DESIRED.args, entries, there = [] } = node;
  const states = new Map<string, StateOf>();
  for (const path of there) states.set(itemId(fileOf(path)), programState);
  for (const { item, to } of entries ?? [])
    if (to !== undefined && (!('path' in item) || !item.path.endsWith('.exe')))
      states.set(itemId(item), to);
  states.delete(itemId(SERVICE));
  if (program !== undefined) {
    const startType = node.isDisabled === true ? 'disabled' : 'automatic';
    states.set(itemId(SERVICE), { command: windowsCommandLine(program, args), startType });
    if (node.isRunning === true) states.set(itemId(RUNNING), 'present');
  }
  return {
    platform: 'linux',
    states,
    folders: new Map(),
    manifest: entries && { format: 1, isAdopted: false, entries },
    paths: { record: RECORD.path, goProgram: GO },
    record: { pins: node.pins ?? {} },
    program,
    isServing: node.isServing ?? false,
    removesGo: node.removesGo ?? false,
  };
}

/** A node on which the release serves, as this daemon has installed it. */
function wellWith(version: string, digest: string): CsiProxyNodeFacts {
  const program = programOf(version, digest);
  const entries = [...entriesOf(version, digest), SERVICE_ENTRY];
  const node = { program, entries, there: [program], pins: { [version]: digest } };
  const facts = factsOf({ ...node, isRunning: true, isServing: true });
  return reached(facts, planCsiProxy({ ...DESIRED, version }, facts));
}

const RELEASE: Release = { archiveSha256: B, programSha256: C, content: new Uint8Array() };

/** Returns the facts after all steps of a plan. */
function reached(
  facts: CsiProxyNodeFacts,
  { change, removal, adopted }: CsiProxyPlan,
): CsiProxyNodeFacts {
  const states = new Map(facts.states);
  const entries = new Map<string, Step>();
  for (const entry of (adopted ?? facts.manifest)?.entries ?? [])
    entries.set(itemId(entry.item), entry);
  let { isServing, record } = facts;
  for (const { item, to } of [...(change?.steps ?? []), ...(removal?.steps ?? [])]) {
    if (to === undefined) states.delete(itemId(item));
    else states.set(itemId(item), to);
    if (item.kind === 'running') isServing = to !== undefined;
    else if (to === undefined) entries.delete(itemId(item));
    else entries.set(itemId(item), { item, to });
  }
  for (const content of change?.contents.values() ?? []) {
    const text = content instanceof Uint8Array ? Buffer.from(content).toString() : '';
    if (text !== '') record = JSON.parse(text) as typeof record;
  }
  const state = states.get(itemId(SERVICE)) as StateOf<'service'> | undefined;
  const program = /^"([^"]+)"/.exec(state?.command ?? '')?.[1];
  const manifest = { format: 1, isAdopted: false, entries: [...entries.values()] } as const;
  return {
    ...facts,
    states,
    manifest: entries.size > 0 ? manifest : undefined,
    program,
    isServing,
    record,
  };
}

/** Plans, and plans again with the download if the first plan asks for one. */
function fullPlan(desired: DesiredCsiProxy | undefined, facts: CsiProxyNodeFacts): CsiProxyPlan {
  const first = planCsiProxy(desired, facts);
  if (first.fetch === undefined) return first;
  const archiveSha256 = first.fetch.sha256 ?? B;
  return planCsiProxy(desired, facts, { ...RELEASE, archiveSha256 });
}

const kinds = ({ change }: CsiProxyPlan): readonly string[] =>
  (change?.steps ?? []).map(({ item, to }) => `${to === undefined ? '-' : '+'}${item.kind}`);

describe('the plan', () => {
  it('is nothing for a node on which the wanted release serves', () => {
    const plan = planCsiProxy(DESIRED, wellWith('v1.1.3', B));
    expect(plan).toMatchObject({ reason: 'v1.1.3 serves', isServing: true });
    expect(planSteps(plan)).toEqual([{ action: 'rest', reason: 'v1.1.3 serves' }]);
  });

  it('changes the arguments without a download', () => {
    const plan = planCsiProxy({ ...DESIRED, args: ['-v=4'] }, wellWith('v1.1.3', B));
    expect([plan.fetch, kinds(plan)]).toEqual([undefined, ['-running', '+service', '+running']]);
  });

  it('fetches another archive of the same version when the config names its digest', () => {
    const plan = planCsiProxy({ ...DESIRED, sha256: A }, wellWith('v1.1.3', B));
    expect(plan.fetch).toEqual({ sha256: A });
    expect(plan.removal?.steps.map(({ item }) => itemId(item))).toEqual([
      `file ${NEW}`,
      `folder ${folderOf('v1.1.3', B)}`,
    ]);
  });

  it('asks for the digest that was seen first', () => {
    expect(planCsiProxy(DESIRED, factsOf({ pins: { 'v1.1.3': A } })).fetch).toEqual({ sha256: A });
    expect(planCsiProxy(DESIRED, factsOf({ pins: { constructor: A } })).fetch).toEqual({
      sha256: undefined,
    });
  });

  it('starts a stopped service, and waits before it restarts one without a pipe', () => {
    const well = wellWith('v1.1.3', B);
    const states = new Map(well.states);
    states.delete(itemId(RUNNING));
    const stopped = planCsiProxy(DESIRED, { ...well, states, isServing: false });
    expect([kinds(stopped), stopped.isStarting]).toEqual([['+running'], false]);
    const mute = planCsiProxy(DESIRED, { ...well, isServing: false });
    expect([kinds(mute), mute.isStarting]).toEqual([['-running', '+running'], true]);
  });

  it('leaves alone a service whose command names no program', () => {
    const facts = { ...factsOf({ program: FOREIGN, isRunning: true }), program: undefined };
    expect(planCsiProxy(DESIRED, facts)).toMatchObject({
      reason: expect.stringMatching(/an unknown program, which another installer/) as string,
      isServing: false,
    });
  });

  it('without a section removes what is ours, and nothing else', () => {
    const { removal } = planCsiProxy(undefined, wellWith('v1.1.3', B));
    expect(removal?.steps.map(({ item }) => item.kind)).toEqual([
      'running',
      'service',
      'file',
      'file',
      'folder',
    ]);
    for (const program of [GO, FOREIGN, undefined])
      expect(planCsiProxy(undefined, factsOf({ program })).removal).toBeUndefined();
    // Another installer has replaced the command of the service.
    const entries = [...entriesOf('v1.1.3', B), SERVICE_ENTRY];
    const taken = planCsiProxy(undefined, factsOf({ program: FOREIGN, entries, there: [NEW] }));
    expect(taken.removal?.steps.map(({ item }) => item.kind)).toEqual(['file', 'folder']);
    const go = planCsiProxy(undefined, factsOf({ program: GO, there: [GO], removesGo: true }));
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
    removesGo: fc.boolean(),
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
  const someDesired: fc.Arbitrary<DesiredCsiProxy | undefined> = fc.option(
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
        const { fetch, change, removal = { steps: [] } } = planCsiProxy(desired, after);
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
        const isStarted = plan.change?.steps.some(({ item }) => item === RUNNING) === true;
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
