/** Random histories of detached runs, and how a history is played. */
import * as fc from 'fast-check';
import type { Bytes, Grant, Policy, Wanted } from './model-run.js';
import { overlapping, VERBS, type Beginning } from './overlapping-steps.js';
import { RunModel } from './run-model.js';
import { allowedOf, steps, VARIANTS, type Starting } from './run-steps.js';
import { SimulatedDaemon } from './simulated-daemon.js';
import { ADMINISTRATOR, assertSame, PROGRAMS, type Step } from './step.js';

/** Mostly one of them, so that its runs affect each other. */
const client = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(ADMINISTRATOR));
const which = fc.nat(11);
const verb = fc.constantFrom(...VERBS);
const beginning = fc.constantFrom<Beginning>('startAgain', 'restart', 'again');
const event = fc.constantFrom(...VERBS, 'keeper' as const, 'leave' as const, 'full' as const);
const program = fc.constantFrom(PROGRAMS[0], ...PROGRAMS);
const policy = fc.constantFrom<Policy>(
  ...(['always', 'always', 'no', 'no', 'on-failure', 'on-failure:1', 'on-failure:2'] as const),
);
const start = fc
  .record({
    client,
    name: fc.constantFrom('web', 'db', ''),
    program,
    policy,
    bytes: fc.constantFrom('v1', 'v1', 'v1', 'v2'),
    replace: fc.constantFrom(false, false, true),
    isBrief: fc.constantFrom(false, false, true),
  })
  // Such a run has no restart policy.
  .map((all) => ({ ...all, policy: all.isBrief ? ('no' as const) : all.policy }));
const HOUR_MS = 3_600_000;
const wanted = fc
  .uniqueArray(
    fc.record({ name: fc.constantFrom('x', 'y'), variant: fc.nat(VARIANTS.length - 1) }),
    { maxLength: 2, selector: ({ name }) => name },
  )
  .map((entries) => entries.map((entry) => ({ ...entry, ...VARIANTS[entry.variant] }) as Wanted));

/** Random histories. */
export const histories = fc.commands(
  [
    ...Array.from({ length: 5 }, () => start.map(steps.start)),
    fc.tuple(client, which).map((args) => steps.startAgain(...args)),
    fc.tuple(client, which).map((args) => steps.restart(...args)),
    fc.tuple(client, which, fc.boolean()).map((args) => steps.stop(...args)),
    fc.tuple(client, which).map((args) => steps.remove(...args)),
    fc.tuple(client, which).map((args) => steps.find(...args)),
    fc.tuple(which, fc.constantFrom(0, 1, 1)).map((args) => steps.ends(...args)),
    fc.tuple(which, fc.constantFrom(0, 1, 1)).map((args) => steps.ends(...args)),
    fc.constantFrom(400, 1000, 60_000, 300_000, 600_000).map(steps.pass),
    fc.constantFrom(400, 1000, 60_000, 300_000, 600_000).map(steps.pass),
    fc.constantFrom(-30 * HOUR_MS, -HOUR_MS, HOUR_MS, 30 * HOUR_MS).map(steps.setClock),
    fc
      .tuple(program, fc.constantFrom<Grant>('all', 'all', 'all', 'limited', 'noRestart', 'none'))
      .map((args) => steps.grant(...args)),
    fc
      .tuple(program, fc.constantFrom<Bytes>('v1', 'v1', 'v1', 'v2', undefined))
      .map((args) => steps.file(...args)),
    fc.tuple(client, program, fc.boolean()).map((args) => steps.stopProcess(...args)),
    fc.tuple(which, fc.constantFrom('a', 'b\n')).map((args) => steps.writes(...args)),
    which.map(steps.read),
    wanted.map(steps.reload),
    fc.tuple(wanted, wanted).map((args) => overlapping.reloadWhileStopping(...args)),
    fc.constant(null).map(steps.killDaemon),
    fc.constant(null).map(steps.startDaemon),
    fc.constant(null).map(steps.startDaemon),
    fc.constant(null).map(steps.killKeeper),
    fc.constant(true).map(steps.fillDisk),
    fc.constant(false).map(steps.fillDisk),
    which.map(overlapping.stopWhileStoring),
    fc.tuple(which, verb, fc.constantFrom(0, 1)).map((args) => overlapping.whileStopping(...args)),
    fc
      .tuple(which, fc.constantFrom(0, 1, undefined))
      .map((args) => overlapping.diesWhileStopping(...args)),
    fc.tuple(which, verb).map((args) => overlapping.uponEnd(...args)),
    fc.tuple(client, event).map((args) => overlapping.whileStarting(...args)),
    fc
      .tuple(
        which,
        beginning,
        fc.oneof({ weight: 8, arbitrary: event }, fc.constant('close' as const)),
      )
      .map((args) => overlapping.whileStartingAgain(...args)),
  ],
  { maxCommands: 25, size: 'max' },
);

/** The first client starts its run `web`. */
export const startWeb = (policy: Policy, more: Partial<Starting> = {}) =>
  steps.start({
    client: 0,
    name: 'web',
    program: 'one',
    policy,
    bytes: 'v1',
    replace: false,
    isBrief: false,
    ...more,
  });
const nextDaemon = () => [steps.killDaemon(), steps.startDaemon()];

/** Fixed histories of a full disk, which real files do not have. */
export const FULL_DISK: readonly (readonly Step[])[] = [
  // A run that is stopped on a full disk ends, and the next daemon knows how.
  [startWeb('no'), steps.fillDisk(true), steps.stop(0, 0), ...nextDaemon(), steps.stop(0, 0)],
  // A run that is removed on a full disk leaves nothing.
  [startWeb('always'), steps.fillDisk(true), steps.remove(0, 0), ...nextDaemon()],
  // A run whose keeper dies on a full disk is started again when there is space.
  [
    startWeb('always'),
    steps.fillDisk(true),
    steps.killKeeper(),
    steps.pass(60_000),
    ...nextDaemon(),
    steps.fillDisk(false),
    steps.pass(300_000),
  ],
  // An attempt that cannot be recorded leaves the end of the one before, and its refusal is written when there is space.
  [
    startWeb('no'),
    steps.ends(0, 1),
    overlapping.whileStartingAgain(0, 'startAgain', 'full'),
    steps.pass(1000),
    ...nextDaemon(),
    steps.stop(0, 0),
  ],
  // A run that is stopped after an attempt that could not be recorded does not start with the next daemon, stopped before or ended.
  ...[steps.stop(0, 0), steps.ends(0, 0)].map((over) => [
    startWeb('on-failure'),
    over,
    overlapping.whileStartingAgain(0, 'startAgain', 'full'),
    steps.stop(0, 0),
    ...nextDaemon(),
  ]),
  // So it is if the stop arrives while that record is corrected.
  [
    startWeb('on-failure'),
    steps.stop(0, 0),
    ...Array.from({ length: 20 }, () => [
      overlapping.whileStartingAgain(0, 'startAgain', 'full'),
      overlapping.stopWhileStoring(0),
      ...nextDaemon(),
    ]).flat(),
  ],
  // An attempt that was given up leaves the wait of before, which was refused on the full disk, to the next daemon.
  ...[
    [overlapping.whileStartingAgain(0, 'startAgain', 'leave'), steps.killDaemon()],
    [overlapping.whileStartingAgain(0, 'again', 'close')],
  ].map((given) => [
    startWeb('always'),
    steps.ends(0, 1),
    steps.fillDisk(true),
    steps.pass(600_000),
    steps.fillDisk(false),
    ...given,
    steps.startDaemon(),
  ]),
  // A run that is stopped while its plan is written stays stopped, in whatever order the files are done.
  [
    startWeb('always'),
    ...Array.from({ length: 20 }, () => [
      ...[1000, 2000].flatMap((ms) => [steps.ends(0, 1), steps.pass(ms)]),
      steps.fillDisk(true),
      steps.ends(0, 1),
      overlapping.stopWhileStoring(0),
      ...nextDaemon(),
      steps.startAgain(0, 0),
    ]).flat(),
  ],
];

/** Runs a history whose steps must all be possible. */
export function playAll(
  history: readonly fc.AsyncCommand<RunModel, SimulatedDaemon>[],
): Promise<void> {
  return playBy(async (model, real) => {
    for (const step of history) {
      assertSame(`${String(step)} ${String(step.check(model))}`, `${String(step)} true`);
      await step.run(model, real);
    }
  });
}

/** Runs the possible steps of a history. */
export function play(history: Iterable<fc.AsyncCommand<RunModel, SimulatedDaemon>>): Promise<void> {
  return playBy((model, real) => fc.asyncModelRun(() => ({ model, real }), history));
}

/** Runs a history, then stops and removes everything, after which nothing may be left. */
async function playBy(
  work: (model: RunModel, real: SimulatedDaemon) => Promise<void>,
): Promise<void> {
  const real = new SimulatedDaemon();
  try {
    const model = new RunModel();
    for (const each of PROGRAMS) {
      model.grants.set(each, 'all');
      model.files.set(each, 'v1');
      real.write(each, 'v1');
    }
    model.wallMs = real.machine.wallMs;
    model.canFillDisk = real.canFillDisk;
    real.allow(allowedOf(model, real));
    await real.start();
    await work(model, real);
    if (model.isDiskFull) await steps.fillDisk(false).run(model, real);
    if (!model.isUp) await steps.startDaemon().run(model, real);
    await steps.reload([]).run(model, real);
    while (model.runs.length > 0) await steps.remove(ADMINISTRATOR, 0).run(model, real);
    // A keeper that dies during a start leaves a folder to the next daemon.
    if (real.leftFiles().length > 0) {
      await real.kill();
      await real.start();
    }
    assertSame(real.leftFiles(), []);
    assertSame(real.openFiles(), []);
  } finally {
    await real.close();
  }
}
