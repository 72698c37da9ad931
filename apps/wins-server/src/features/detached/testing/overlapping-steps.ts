/** Steps in which one request arrives while another one is still in progress. This file is long, because each step tells what follows, of the program and of its model. */
import { stateOf } from '@wins/process-manager';
import {
  ADMINISTRATOR,
  CLIENTS,
  clientOf,
  endOf,
  isUp,
  outcomeOf,
  owner,
  assertSame,
  processOf,
  PROGRAMS,
  signal,
  Step,
} from './step.js';
import { reload } from './run-steps.js';
import { shownTo, type ModelRun, type Wanted } from './model-run.js';
import { MAX_RUNS, type RunModel } from './run-model.js';
import type { SimulatedDaemon } from './simulated-daemon.js';

export const VERBS = ['stop', 'kill', 'remove', 'startAgain', 'restart', 'replace'] as const;
export type Verb = (typeof VERBS)[number];
/** Besides requests, during a start: the keeper dies, the client that asked leaves, the disk is full for a while, or the daemon closes. */
export type Happening = Verb | 'keeper' | 'leave' | 'full' | 'close';
/** How a start begins: by a request, as a restart by a request, or because its time has come. */
export type Beginning = 'startAgain' | 'restart' | 'again';

const administrator = clientOf(ADMINISTRATOR);
const by = { client: administrator.real, requester: owner.id };

/** Requests something of a run in the name of an administrator, or of its owner if only the owner can. */
async function ask(verb: Verb, run: ModelRun, real: SimulatedDaemon): Promise<unknown> {
  const name = shownTo(administrator.model, run);
  if (verb === 'replace') {
    const { program: file, bytes = '', policy, token, owner: of } = run;
    const client = CLIENTS.find(({ model }) => model === of)?.real ?? administrator.real;
    const request = { path: real.pathOf(file), args: [token], envs: [], replace: true };
    const whole = { ...request, sha256: real.digestOf(bytes) };
    return outcomeOf(
      real.runs.start(whole, {
        by: { requester: owner.id, client },
        name: run.name,
        restart: policy,
        signal,
      }),
    );
  }
  if (verb === 'startAgain' || verb === 'restart')
    return outcomeOf(real.runs[verb](name, by, { signal }));
  if (verb === 'remove') return outcomeOf(real.runs.remove(name, by));
  return endOf(real.runs.stop(name, by, { force: verb === 'kill' }));
}

function expected(verb: Verb, run: ModelRun, model: RunModel): unknown {
  if (verb === 'startAgain' || verb === 'restart') return model[verb](run);
  if (verb === 'replace') {
    const started = model.start(run.owner, run.name, true, { ...run });
    return typeof started === 'string' ? started : 'ok';
  }
  if (verb !== 'remove') return model.stop(run, verb === 'kill');
  model.remove(run);
  return 'ok';
}

function ofRuns(model: Readonly<RunModel>, fits: (run: ModelRun) => boolean): readonly ModelRun[] {
  return model.isUp ? model.runs.filter(fits) : [];
}

/** The operator's programs are replaced by the config alone. */
function canDo(verb: string, { kept }: ModelRun): boolean {
  return verb !== 'replace' || kept === undefined;
}

const isLiving = ({ state }: Pick<ModelRun, 'state'>): boolean => state === 'running';

function stepOn(
  text: string,
  which: number,
  fits: (run: ModelRun, model: Readonly<RunModel>) => boolean,
  work: (run: ModelRun, model: RunModel, real: SimulatedDaemon) => Promise<void>,
): Step {
  // Whether another request finds a run that is removed at its end is a matter of chance.
  const found = (model: Readonly<RunModel>) =>
    ofRuns(model, (run) => !run.isBrief && fits(run, model));
  return new Step(
    text,
    (model) => found(model).length > 0,
    async (model, real) => {
      const all = found(model);
      const run = all[which % Math.max(1, all.length)];
      if (run !== undefined) await work(run, model, real);
    },
  );
}

export const overlapping = {
  /** A request to stop arrives while the plan of a run that does not live is written, because there is space again. */
  stopWhileStoring: (which: number) =>
    stepOn(
      `stopWhileStoring(${which})`,
      which,
      ({ state, storeMs, dueMs }, { isDiskFull }) =>
        storeMs !== undefined &&
        (state === 'waiting' ? isDiskFull && storeMs < dueMs : !isLiving({ state })),
      async (run, model, real) => {
        const { facts } = real.runs.find(shownTo(administrator.model, run), by.client);
        real.fillDisk(false);
        model.isDiskFull = false;
        const leftMs = (run.storeMs ?? 0) - model.monoMs;
        const passed = real.machine.pass(leftMs);
        const stopped = ask('stop', run, real);
        model.pass(leftMs);
        assertSame(await stopped, model.stop(run));
        // A daemon that is killed right after its answer leaves no start to the next one.
        assertSame(real.planOnDisk(facts)?.next.kind === 'again', false);
        await passed;
      },
    ),

  /** A request arrives while the program is being asked to end, and does not. */
  whileStopping: (which: number, verb: Verb, code: number) =>
    stepOn(
      `whileStopping(${which}, ${verb}, ${code})`,
      which,
      (run) => isLiving(run) && canDo(verb, run),
      async (run, model, real) => {
        const name = shownTo(administrator.model, run);
        const process = processOf(run, real);
        real.machine.isStubborn = true;
        const stopped = ask('stop', run, real);
        await real.machine.settled();
        assertSame(stateOf(real.runs.find(name, by.client)), 'stopping');
        const asked = ask(verb, run, real);
        await real.machine.settled();
        real.machine.isStubborn = false;
        if (verb !== 'kill') process?.end({ code });
        model.stop(run);
        run.end = { code: verb === 'kill' ? 137 : code, reason: 'stopped' };
        assertSame(await stopped, run.end);
        assertSame(await asked, expected(verb, run, model));
      },
    ),

  /** The config changes again while programs that it no longer wants are asked to end, and do not. */
  reloadWhileStopping: (first: readonly Wanted[], second: readonly Wanted[]) =>
    new Step(
      `reloadWhileStopping(${JSON.stringify(first)}, ${JSON.stringify(second)})`,
      isUp,
      async (model, real) => {
        real.machine.isStubborn = true;
        reload(first, model, real);
        await real.machine.settled();
        reload(second, model, real);
        await real.machine.settled();
        real.machine.isStubborn = false;
        for (const { isAsked, end } of real.machine.living) if (isAsked) end({ code: 143 });
        await real.stopped();
      },
    ),

  /** The daemon dies while a program is asked to end, which it does with `code`, or only when the next daemon is there. */
  diesWhileStopping: (which: number, code: number | undefined) =>
    stepOn(`diesWhileStopping(${which}, ${code})`, which, isLiving, async (run, model, real) => {
      const process = processOf(run, real);
      real.machine.isStubborn = true;
      void ask('stop', run, real);
      await real.machine.settled();
      await real.kill();
      real.machine.isStubborn = false;
      if (code !== undefined) process?.end({ code });
      await real.machine.settled();
      await real.start();
      if (code === undefined) process?.end({ code: 143 });
      await real.stopped();
      model.stop(run);
      run.end = { code: code ?? 143, reason: 'stopped' };
      model.daemonStarts();
    }),

  /** A request arrives as soon as the daemon reports that the run will start again, or that it gave up. */
  uponEnd: (which: number, verb: Verb) =>
    stepOn(
      `uponEnd(${which}, ${verb})`,
      which,
      (run) => isLiving(run) && run.policy !== 'no' && canDo(verb, run),
      async (run, model, real) => {
        let asked: Promise<unknown> | undefined;
        real.onceTold = () => void (asked = ask(verb, run, real));
        processOf(run, real)?.end({ code: 1 });
        await real.machine.settled();
        model.ends(run, 1);
        assertSame(await asked, expected(verb, run, model));
      },
    ),

  /** Something happens while the first attempt of a run is being started. */
  whileStarting: (number: number, verb: Exclude<Happening, 'close'>) =>
    new Step(
      `whileStarting(${number}, ${verb})`,
      (model) =>
        model.isUp &&
        (verb !== 'full' || model.canFillDisk) &&
        PROGRAMS.some((program) => isStartable(model, number, program)) &&
        clientOf(number).model.isUnidentified !== true,
      async (model, real) => {
        const client = clientOf(number);
        const program = PROGRAMS.find((each) => isStartable(model, number, each)) ?? 'one';
        const token = String((model.starts += 1));
        const what = { program, token, policy: 'always', bytes: 'v1', isBrief: false } as const;
        const release = real.machine.holdStarts();
        const request = { path: real.pathOf(program), args: [token], envs: [] };
        const leaving = new AbortController();
        const started = outcomeOf(
          real.runs.start(
            { ...request, sha256: real.digestOf('v1') },
            {
              by: { requester: owner.id, client: client.real },
              name: 'held',
              restart: 'always',
              signal: leaving.signal,
            },
          ),
        );
        await real.machine.settled();
        const run = model.start(client.model, 'held', false, what) as ModelRun;
        const name = shownTo(administrator.model, run);
        assertSame(stateOf(real.runs.find(name, by.client)), 'starting');
        if (verb === 'keeper') {
          await real.killKeepers();
          release();
          model.remove(run);
          model.keeperDies();
          assertSame(await started, 'stateUnavailable');
          return;
        }
        if (verb === 'leave') {
          leaving.abort();
          release();
          model.remove(run);
          assertSame(await started, 'aborted');
          return;
        }
        if (verb === 'full') {
          real.fillDisk(true);
          release();
          // The process cannot be recorded, so it ends at once.
          assertSame(await started, 'stateUnavailable');
          await real.machine.settled();
          real.fillDisk(false);
          model.remove(run);
          return;
        }
        const asked = ask(verb, run, real);
        await real.machine.settled();
        release();
        const ended = verb === 'stop' || verb === 'kill' || verb === 'remove';
        assertSame(await started, ended ? 'aborted' : 'ok');
        if (verb === 'stop' || verb === 'kill') {
          model.remove(run);
          assertSame(await asked, { code: 137, reason: 'stopped' });
        } else assertSame(await asked, expected(verb, run, model));
      },
    ),

  /** Something happens while a run is being started again. */
  whileStartingAgain: (which: number, how: Beginning, verb: Happening) =>
    stepOn(
      `whileStartingAgain(${which}, ${how}, ${verb})`,
      which,
      (run, model) => {
        if (!run.isBegun || !canDo(verb, run)) return false;
        if (model.refusal(run) !== undefined || isLiving(run) !== (how === 'restart')) return false;
        if (verb === 'close' && how !== 'again') return false;
        if (verb === 'leave' && how === 'again') return false;
        if (verb === 'keeper' && how === 'restart') return false;
        if (verb === 'full' && (how === 'restart' || !model.canFillDisk)) return false;
        // Another one that is due first would also be held.
        const due = model.runs.filter(
          (each) => each.state === 'waiting' && each.dueMs <= run.dueMs,
        );
        return how !== 'again' || (due.length === 1 && due[0] === run);
      },
      async (run, model, real) => {
        const name = shownTo(administrator.model, run);
        const before = { ...run };
        const release = real.machine.holdStarts();
        let started: Promise<unknown> | undefined;
        const leaving = new AbortController();
        if (how === 'again') await real.machine.pass(run.dueMs - model.monoMs);
        else started = outcomeOf(real.runs[how](name, by, { signal: leaving.signal }));
        await real.machine.settled();
        assertSame(stateOf(real.runs.find(name, by.client)), 'starting');
        if (how === 'again') model.pass(run.dueMs - model.monoMs);
        else model[how](run);
        const again = { ...run.planned, state: 'waiting', dueAtWallMs: model.wallMs } as const;
        if (verb === 'close') {
          const closed = real.kill();
          await real.machine.settled();
          release();
          await closed;
          // The next daemon starts it.
          Object.assign(run, before, { end: { code: 143, reason: 'stopped' } });
          model.stored(run);
          model.isUp = false;
          return;
        }
        if (verb === 'leave') {
          leaving.abort();
          release();
          assertSame(await started, 'aborted');
          const end = { code: 143, reason: 'stopped' };
          Object.assign(run, before, { end, endedMs: model.monoMs, endedAtWallMs: model.wallMs });
          // The attempt that was replaced has ended, so the run comes back.
          if (how === 'restart') model.comesBack(run);
          else model.stored(run);
          return;
        }
        if (verb === 'keeper' || verb === 'full') {
          if (verb === 'keeper') await real.killKeepers();
          else real.fillDisk(true);
          release();
          Object.assign(run, before);
          if (verb === 'full') {
            await real.machine.settled();
            real.fillDisk(false);
          }
          model.isDiskFull = verb === 'full';
          if (how === 'again') model.refused(run);
          else model.stored(run);
          // The next daemon starts it, unless this one can write before that it was refused.
          if (verb === 'full' && how === 'startAgain') run.planned = again;
          model.isDiskFull = false;
          if (verb === 'keeper') model.keeperDies();
          if (started !== undefined) assertSame(await started, 'stateUnavailable');
          return;
        }
        const asked = ask(verb, run, real);
        await real.machine.settled();
        release();
        const ended = verb === 'stop' || verb === 'kill' || verb === 'remove';
        if (started !== undefined) assertSame(await started, ended ? 'aborted' : 'ok');
        const wanted = expected(verb, run, model);
        // The attempt was asked to end, not killed, because it began after the request.
        if (ended && verb !== 'remove') {
          run.restarts = before.restarts;
          model.stored(run);
          run.end = { code: 143, reason: 'stopped' };
          assertSame(await asked, run.end);
        } else assertSame(await asked, wanted);
      },
    ),
};

function isStartable(model: Readonly<RunModel>, number: number, program: string): boolean {
  if (model.isDiskFull) return false;
  const { model: client } = clientOf(number);
  const own = model.runs.filter((run) => run.owner === client);
  if (own.some(({ name }) => name === 'held')) return false;
  if (own.filter((run) => run.program === program).length >= MAX_RUNS) return false;
  return model.grants.get(program) === 'all' && model.files.get(program) === 'v1';
}
