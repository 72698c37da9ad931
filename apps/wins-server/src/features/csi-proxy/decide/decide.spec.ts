import * as fc from 'fast-check';
import { afterStep, decide, planSteps, programPath, type CsiProxyFacts } from './decide.js';
import { MOVES, nextState, retryDelayMs, type CsiProxyState } from './component-state.js';
import type { InstallRecord, ServiceCommand, StoredRelease } from './install-record.js';
import type { DesiredCsiProxy } from '../settings/judge-settings.js';

const FOLDER = 'C:\\csi';
const GO = 'C:\\Windows\\System32\\csi-proxy.exe';
const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const DESIRED: DesiredCsiProxy = {
  url: 'https://h/x',
  version: 'v1.1.3',
  args: ['-windows-service'],
  folder: FOLDER,
  trust: {},
};

function release(version: string, archiveSha256: string, folder = FOLDER): StoredRelease {
  const program = programPath(folder, version, archiveSha256);
  return { version, archiveSha256, programSha256: archiveSha256, program };
}
const OLD = release('v1.1.2', A);
const NEW = release('v1.1.3', B);
const command = (program: string, args = DESIRED.args): ServiceCommand => ({ program, args });
const running = (program: string, args = DESIRED.args) => ({
  command: command(program, args),
  isRunning: true,
  isDisabled: false,
});
const NOTHING: CsiProxyFacts = {
  service: undefined,
  record: { pins: {}, releases: [] },
  intact: [],
  isServing: false,
  goProgram: GO,
};
function facts(service: CsiProxyFacts['service'], record: Partial<InstallRecord>): CsiProxyFacts {
  const releases = record.releases ?? [];
  return {
    ...NOTHING,
    service,
    isServing: service?.isRunning === true,
    record: { ...NOTHING.record, ...record },
    intact: releases.map(({ program }) => program),
  };
}
const WELL = facts(running(NEW.program), {
  pins: { 'v1.1.3': B },
  releases: [NEW],
  installed: command(NEW.program),
});
const actions = (desired: DesiredCsiProxy | undefined, found: CsiProxyFacts): string[] =>
  planSteps(desired, found).map(({ action }) => action);

describe('the decision', () => {
  it('is to change the arguments without a download', () => {
    expect(actions({ ...DESIRED, args: ['-windows-service', '-v=4'] }, WELL)).toEqual([
      'switch',
      'rest',
    ]);
  });

  it('is to fetch another archive of the same version when the config names its digest', () => {
    const steps = planSteps({ ...DESIRED, sha256: A }, WELL);
    expect(steps.map(({ action }) => action)).toEqual(['fetch', 'switch', 'tidy', 'rest']);
    expect(steps[0]).toMatchObject({ sha256: A });
  });

  it('asks for the digest that was seen first', () => {
    expect(decide(DESIRED, facts(undefined, { pins: { 'v1.1.3': A } }))).toMatchObject({
      action: 'fetch',
      sha256: A,
    });
    expect(decide(DESIRED, facts(undefined, { pins: { constructor: A } }))).not.toHaveProperty(
      'sha256',
    );
  });

  it('leaves alone a service whose command is unknown', () => {
    const unknown = { command: undefined, isRunning: true, isDisabled: false };
    expect(actions(DESIRED, facts(unknown, {}))).toEqual(['leave']);
  });

  it('without a section is to remove what is ours, and nothing else', () => {
    expect(planSteps(undefined, WELL)).toMatchObject([
      { action: 'remove', service: true },
      { action: 'rest' },
    ]);
    expect(actions(undefined, facts(running(GO), {}))).toEqual(['leave']);
    expect(actions(undefined, facts(running('D:\\aks\\csi-proxy.exe'), {}))).toEqual(['leave']);
    // The release was fetched but never used, because the service belongs to another installer.
    expect(planSteps(undefined, facts(running(GO), { releases: [NEW] }))).toMatchObject([
      { action: 'remove', service: false },
      { action: 'leave' },
    ]);
    expect(actions(undefined, facts(undefined, { pins: { 'v1.1.3': B } }))).toEqual([
      'remove',
      'rest',
    ]);
    expect(actions(undefined, NOTHING)).toEqual(['rest']);
  });

  it('ends a change that was interrupted: what serves is kept, what does not is begun again', () => {
    const trial = { to: command(NEW.program), from: command(OLD.program) };
    const record = { pins: { 'v1.1.3': B }, releases: [OLD, NEW], trial };
    const served = facts(running(NEW.program), record);
    expect(actions(DESIRED, served)).toEqual(['record', 'tidy', 'rest']);
    expect(decide(DESIRED, { ...served, isServing: false })).toMatchObject({
      action: 'switch',
      to: trial.to,
      from: trial.from,
    });
    expect(decide(DESIRED, facts(running(OLD.program), record))).toMatchObject({
      action: 'switch',
      to: trial.to,
      from: trial.from,
    });
    // A rollback restores `from`. The command on trial may become `from` only if it serves.
    const other = { ...DESIRED, args: ['-v=1'] };
    expect(decide(other, { ...served, isServing: false })).toMatchObject({ from: trial.from });
    expect(decide(other, served)).toMatchObject({ from: trial.to });
  });

  const programs = [OLD.program, NEW.program, release('v1.1.3', A).program, GO, 'D:\\other.exe'];
  const someCommand = fc.record({
    program: fc.constantFrom(...programs),
    args: fc.constantFrom(DESIRED.args, ['-v=4']),
  });
  const someFacts: fc.Arbitrary<CsiProxyFacts> = fc.record({
    service: fc.option(
      fc.record({
        command: fc.option(someCommand, { nil: undefined }),
        isRunning: fc.boolean(),
        isDisabled: fc.boolean(),
      }),
      { nil: undefined },
    ),
    record: fc.record(
      {
        pins: fc.constantFrom({}, { 'v1.1.3': A }, { 'v1.1.3': B, 'v1.1.2': A }),
        releases: fc.subarray([OLD, NEW, release('v1.1.3', A), release('v1.1.3', B, 'D:\\x')]),
        installed: someCommand,
        trial: fc.record({ to: someCommand, from: someCommand }, { requiredKeys: ['to'] }),
        obsolete: fc.constant({ path: GO, sha256: A }),
      },
      { requiredKeys: ['pins', 'releases'] },
    ),
    intact: fc.subarray(programs),
    isServing: fc.boolean(),
    goProgram: fc.constantFrom(GO, undefined),
  });
  const someDesired = fc.option(
    fc.record({
      version: fc.constantFrom('v1.1.2', 'v1.1.3'),
      sha256: fc.constantFrom(A, B, undefined),
      args: fc.constantFrom(DESIRED.args, ['-v=4']),
    }),
    { nil: undefined },
  );
  const desiredFrom = (some: {
    version: string;
    sha256: string | undefined;
    args: readonly string[];
  }) => {
    const { sha256, ...rest } = some;
    return { ...DESIRED, ...rest, ...(sha256 !== undefined && { sha256 }) };
  };

  it('leads from every node to rest in a few steps, and stays there', () => {
    fc.assert(
      fc.property(someFacts, someDesired, (found, some) => {
        const desired = some && desiredFrom(some);
        let now = found;
        let steps = 0;
        for (
          let step = decide(desired, now);
          !['rest', 'leave'].includes(step.action);
          steps += 1
        ) {
          expect(steps).toBeLessThan(8);
          now = afterStep(step, now, DESIRED);
          const next = decide(desired, now);
          expect(next).not.toEqual(step);
          step = next;
        }
        expect(decide(desired, now)).toEqual(
          decide(desired, afterStep(decide(desired, now), now, DESIRED)),
        );
      }),
    );
  });

  it('never has the service run what was not verified, and never touches what is not ours', () => {
    fc.assert(
      fc.property(someFacts, someDesired, (found, some) => {
        const step = decide(some && desiredFrom(some), found);
        if (step.action === 'switch') expect(found.intact).toContain(step.to.program);
        if (step.action === 'start') expect(found.intact).toContain(step.command.program);
        const { service, record } = found;
        const ours = [
          ...record.releases.map(({ program }) => program),
          ...[record.installed, record.trial?.to].map((one) => one?.program),
        ];
        const program = service?.command?.program;
        if (service === undefined || ours.includes(program)) return;
        if (program !== GO || found.goProgram === undefined)
          expect(['switch', 'start', 'record']).not.toContain(step.action);
        if (step.action === 'remove') expect(step.service).toBe(false);
      }),
    );
  });
});

describe('the states', () => {
  const STATES: Record<CsiProxyState['kind'], CsiProxyState> = {
    absent: { kind: 'absent', detail: '' },
    fetching: { kind: 'fetching', version: 'v1' },
    verified: { kind: 'verified', version: 'v1' },
    installed: { kind: 'installed', version: 'v1' },
    serving: { kind: 'serving', detail: '' },
    failed: { kind: 'failed', code: 'fileFailed', detail: '', failures: 1, retryAt: new Date(0) },
  };
  const all = Object.values(STATES);

  it('follow each other as the table says', () => {
    const illegal: string[] = [];
    for (const from of all)
      for (const to of all) {
        try {
          expect(nextState(from, to)).toBe(to);
        } catch {
          illegal.push(`${from.kind} ${to.kind}`);
        }
      }
    expect(illegal).toEqual([
      'absent installed',
      'fetching installed',
      'installed fetching',
      'installed verified',
      'serving installed',
      'failed installed',
    ]);
    expect(Object.keys(MOVES)).toEqual(Object.keys(STATES));
  });
});

describe('the wait after a failure', () => {
  it('doubles up to a limit, and is spread', () => {
    const waits = [1, 2, 3, 20].map((failures) => retryDelayMs('downloadFailed', failures, 1));
    expect(waits).toEqual([5_000, 10_000, 20_000, 600_000]);
    expect(retryDelayMs('downloadFailed', 1, 0)).toBe(2_500);
  });

  it('is long for what would only repeat, or interrupts volumes', () => {
    expect(retryDelayMs('notServing', 1, 1)).toBe(600_000);
    expect(retryDelayMs('archiveRefused', 99, 1)).toBe(6 * 3_600_000);
  });
});
