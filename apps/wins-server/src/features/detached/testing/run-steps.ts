/** The verbs of clients, of the operator and of the machine, each for the program and for its model. */
import type { ClientIdentity } from '@wins/base';
import { DEFAULT_BACKOFF, type KeptProgram } from '@wins/config';
import type { AllowedExecutable, DetachedGrant } from '@wins/process-manager';
import {
  BACKOFFS,
  named,
  oldestEnded,
  shownTo,
  type Bytes,
  type Grant,
  type ModelClient,
  type ModelRun,
  type Policy,
  type Wanted,
} from './model-run.js';
import { MAX_RUNS, type RunModel } from './run-model.js';
import type { SimulatedDaemon } from './simulated-daemon.js';
import {
  always,
  clientOf,
  endOf,
  isUp,
  outcomeOf,
  outputOf,
  owner,
  assertSame,
  processOf,
  PROGRAMS,
  signal,
  Step,
} from './step.js';

/** Entries of the config. */
export const VARIANTS: readonly Pick<Wanted, 'program' | 'policy'>[] = [
  { program: 'one', policy: 'always' },
  { program: 'one', policy: 'on-failure:1' },
  { program: 'two', policy: 'always' },
];
export interface Starting {
  readonly client: number;
  readonly name: string;
  readonly program: (typeof PROGRAMS)[number];
  readonly policy: Policy;
  readonly bytes: Exclude<Bytes, undefined>;
  readonly replace: boolean;
  /** It is removed when it ends. */
  readonly isBrief: boolean;
}

/** The verbs, for fixed histories and for random ones. */
export const steps = {
  start: ({ client: number, ...starting }: Starting) =>
    new Step(
      `start(${JSON.stringify({ client: number, ...starting })})`,
      (model) => model.isUp && !hasTwins(model, clientOf(number).model, starting.program),
      async (model, real) => {
        const client = clientOf(number);
        const { name, program, policy, bytes, replace, isBrief } = starting;
        const token = String((model.starts += 1));
        const wanted = model.start(client.model, name, replace, {
          program,
          policy,
          bytes,
          token,
          isBrief,
        });
        const request = { path: real.pathOf(program), args: [token], envs: [], replace };
        const sha256 = real.digestOf(bytes);
        let label = '';
        const work = real.runs
          .start(
            { ...request, sha256 },
            {
              by: { requester: owner.id, client: client.real },
              name,
              restart: policy,
              ...(isBrief && { maxAgeMs: 0 }),
            },
          )
          .then((given) => (label = given));
        const outcome = await outcomeOf(work);
        assertSame(outcome, typeof wanted === 'string' ? wanted : 'ok');
        if (typeof wanted !== 'string' && wanted.name === '')
          Object.assign(wanted, { name: label });
      },
    ),
  startAgain: (client: number, which: number) =>
    onRun('startAgain', client, which, async (model, real, { name, by, run }) => {
      const wanted = typeof run === 'string' ? run : model.startAgain(run);
      assertSame(await outcomeOf(real.runs.startAgain(name, by, { signal })), wanted);
    }),
  restart: (client: number, which: number) =>
    onRun('restart', client, which, async (model, real, { name, by, run }) => {
      const wanted = typeof run === 'string' ? run : model.restart(run);
      assertSame(await outcomeOf(real.runs.restart(name, by, { signal })), wanted);
    }),
  stop: (client: number, which: number, force = false) =>
    onRun(force ? 'kill' : 'stop', client, which, async (model, real, { name, by, run }) => {
      if (run === 'invalidArgument') {
        assertSame(await outcomeOf(real.runs.stop(name, by, { force })), run);
        return;
      }
      const wanted = typeof run === 'string' ? undefined : model.stop(run, force);
      assertSame(await endOf(real.runs.stop(name, by, { force })), wanted);
    }),
  remove: (client: number, which: number) =>
    onRun('remove', client, which, async (model, real, { name, by, run }) => {
      if (typeof run !== 'string') model.remove(run);
      const done = real.runs.remove(name, by);
      assertSame(await outcomeOf(done), typeof run === 'string' ? run : 'ok');
    }),
  find: (client: number, which: number) =>
    onRun('find', client, which, async (_model, real, { name, by, run }) => {
      const found = outcomeOf(Promise.resolve().then(() => real.runs.find(name, by.client)));
      assertSame(await found, typeof run === 'string' ? run : 'ok');
    }),
  stopProcess: (number: number, program: string, force: boolean) =>
    new Step(`stopProcess(${number}, ${program}, ${force})`, isUp, async (model, real) => {
      const client = clientOf(number);
      const wanted = model.stopProcess(client.model, program, force);
      const by = { client: client.real, requester: owner.id };
      const name = `rancher-wins-${program}`;
      assertSame(await endOf(real.runs.stopProcess(name, by, { force })), wanted);
    }),
  writes: (which: number, text: string) =>
    new Step(
      `writes(${which}, ${text})`,
      // After a failure, a spool is left alone for a while of real time.
      (model) => model.isUp && !model.isDiskFull && model.living.length > 0,
      async (model, real) => {
        const run = model.living[which % model.living.length] as ModelRun;
        run.output += text;
        processOf(run, real)?.write(text);
        assertSame(await outputOf(run, real, true), run.output);
      },
    ),
  read: (which: number) =>
    new Step(
      `read(${which})`,
      (model) => model.isUp && model.runs.some(({ isBegun }) => isBegun),
      async (model, real) => {
        const begun = model.runs.filter(({ isBegun }) => isBegun);
        const run = begun[which % begun.length] as ModelRun;
        assertSame(await outputOf(run, real, false), run.output);
      },
    ),
  ends: (which: number, code: number) =>
    new Step(
      `ends(${which}, ${code})`,
      (model) => model.living.length > 0,
      (model, real) => {
        const run = model.living[which % model.living.length] as ModelRun;
        processOf(run, real)?.end({ code });
        model.ends(run, code);
      },
    ),
  pass: (ms: number) =>
    new Step(`pass(${ms})`, always, async (model, real) => {
      await real.machine.pass(ms);
      model.pass(ms);
    }),
  setClock: (byMs: number) =>
    new Step(`setClock(${byMs})`, always, (model, real) => {
      real.machine.setClock(byMs);
      model.setClock(byMs);
    }),
  grant: (program: string, grant: Grant) =>
    new Step(`grant(${program}, ${grant})`, always, (model, real) => {
      model.grants.set(program, grant);
      real.allow(allowedOf(model, real));
    }),
  file: (program: string, bytes: Bytes) =>
    new Step(`file(${program}, ${bytes})`, always, (model, real) => {
      model.files.set(program, bytes);
      if (bytes === undefined) real.remove(program);
      else real.write(program, bytes);
    }),
  reload: (wanted: readonly Wanted[]) =>
    new Step(`reload(${JSON.stringify(wanted)})`, always, (model, real) =>
      reload(wanted, model, real),
    ),
  fillDisk: (isFull: boolean) =>
    new Step(
      `fillDisk(${isFull})`,
      (model) => model.canFillDisk && model.isDiskFull !== isFull,
      (model, real) => {
        real.fillDisk(isFull);
        model.isDiskFull = isFull;
      },
    ),
  killDaemon: () =>
    new Step('killDaemon()', isUp, async (model, real) => {
      await real.kill();
      model.isUp = false;
    }),
  startDaemon: () =>
    new Step(
      'startDaemon()',
      (model) => !model.isUp,
      async (model, real) => {
        await real.start();
        model.daemonStarts();
      },
    ),
  killKeeper: () =>
    new Step('killKeeper()', always, async (model, real) => {
      await real.killKeepers();
      model.keeperDies();
    }),
};

/** True if two of the runs that may have to make room ended at the same time, so that either may. */
function hasTwins(model: Readonly<RunModel>, client: ModelClient, program: string): boolean {
  const own = model.runs.filter((run) => run.owner === client && run.program === program);
  const oldest = oldestEnded(own);
  return own.some((run) => run !== oldest && run.endedMs === oldest?.endedMs);
}

interface OnRun {
  readonly name: string;
  readonly by: { readonly client: ClientIdentity; readonly requester: string };
  readonly run: ReturnType<typeof named>;
}

/** A verb on a run by its name: one of all runs, as the client calls it, or as another client does. */
function onRun(
  verb: string,
  number: number,
  which: number,
  work: (model: RunModel, real: SimulatedDaemon, on: OnRun) => Promise<void>,
): Step {
  return new Step(`${verb}(${number}, ${which})`, isUp, async (model, real) => {
    const client = clientOf(number);
    const all = model.runs;
    const chosen = all[which % Math.max(1, all.length)];
    const names = chosen ? [shownTo(client.model, chosen), chosen.name] : ['none'];
    const name = names[which % names.length] ?? 'none';
    const by = { client: client.real, requester: owner.id };
    await work(model, real, { name, by, run: named(model.runs, name, client.model) });
  });
}

export function reload(wanted: readonly Wanted[], model: RunModel, real: SimulatedDaemon): void {
  model.reload(wanted.map((entry) => ({ ...entry, name: `keep:${entry.name}` })));
  real.reload(wanted.map((entry) => keptOf(entry, real)));
}

function restartOf(grant: Grant): Pick<DetachedGrant, 'restart'> {
  const restart = BACKOFFS[grant];
  return restart ? { restart } : {};
}

function keptOf({ name, program, variant, policy }: Wanted, real: SimulatedDaemon): KeptProgram {
  const args = [`keep:${name}`, String(variant)];
  return {
    name,
    path: real.pathOf(program),
    args,
    envs: {},
    restart: { policy, ...DEFAULT_BACKOFF },
  };
}

export function allowedOf(model: RunModel, real: SimulatedDaemon): readonly AllowedExecutable[] {
  return PROGRAMS.filter((program) => model.grants.get(program) !== 'none').map((program) => ({
    path: real.pathOf(program),
    detached: {
      maxRuns: MAX_RUNS,
      spoolBytes: 65_536,
      maxAgeMs: Number.MAX_SAFE_INTEGER,
      ...restartOf(model.grants.get(program) ?? 'none'),
    },
  }));
}
