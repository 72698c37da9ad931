import * as fc from 'fast-check';
import { histories, play, playAll, startWeb } from './testing/histories.js';
import { overlapping, VERBS } from './testing/overlapping-steps.js';
import { steps } from './testing/run-steps.js';
import { playSimulated } from './testing/simulated-histories.js';
import { ADMINISTRATOR } from './testing/step.js';

/** Each takes about 20 ms, most of it for calls of the file system. */
const REAL_HISTORIES = 60;
/** Each takes about 3 ms of a quiet processor. */
const SIMULATED_HISTORIES = 9940;
const HOUR_MS = 3_600_000;
const LONGEST_WAIT_MS = 300_000;
const seed = process.env['WINS_TEST_SEED'];

const [A, B] = [0, 1];
const { ends, grant, file, killDaemon, killKeeper, pass, reload, setClock, startDaemon } = steps;
const { remove, restart, startAgain, stop, stopProcess } = steps;
const nextDaemon = () => [killDaemon(), startDaemon()];
const kept = (name: string, variant = 0) =>
  ({ name, variant, program: 'one', policy: variant === 0 ? 'always' : 'on-failure:1' }) as const;

describe('detached runs behave like their model', () => {
  it('in random histories of clients, configs, clocks, deaths and full disks', async () => {
    await playSimulated(SIMULATED_HISTORIES, seed);
  }, 600_000);

  it('in random histories with real files', async () => {
    await fc.assert(fc.asyncProperty(histories, play), {
      numRuns: REAL_HISTORIES,
      ...(seed !== undefined && { seed: Number(seed) }),
    });
  }, 600_000);

  it.each<[string, ReturnType<typeof pass>[]]>([
    [
      'a run that is stopped while it waits stays stopped',
      [startWeb('always'), ends(0, 1), stop(A, 0), pass(LONGEST_WAIT_MS), ...nextDaemon()],
    ],
    [
      'a stop by the name of the process ends a waiting run for good, too',
      [startWeb('always'), ends(0, 1), stopProcess(A, 'one', false), pass(LONGEST_WAIT_MS)],
    ],
    [
      'another client stops no run by the name of its process, neither while it lives nor while it waits',
      [
        startWeb('always'),
        stopProcess(B, 'one', false),
        stopProcess(B, 'one', true),
        ends(0, 1),
        stopProcess(B, 'one', false),
        pass(LONGEST_WAIT_MS),
      ],
    ],
    [
      'a run that is removed at its end leaves its name to the next one, whoever ended it',
      [
        startWeb('no', { isBrief: true }),
        ends(0, 1),
        startWeb('no', { isBrief: true }),
        stop(A, 0),
        startWeb('no', { isBrief: true }),
        killKeeper(),
        startWeb('no', { isBrief: true, name: 'db' }),
        restart(A, 0),
        ends(0, 0),
      ],
    ],
    [
      'a run that is removed at its end is kept for a minute if another daemon started it',
      [
        startWeb('no', { isBrief: true }),
        ...nextDaemon(),
        ends(0, 1),
        startWeb('no', { isBrief: true, name: 'db' }),
        killDaemon(),
        ends(0, 1),
        startDaemon(),
        killDaemon(),
        pass(60_000),
        startDaemon(),
      ],
    ],
    [
      'a waiting run is replaced under its name',
      [startWeb('always'), ends(0, 1), startWeb('no', { replace: true }), pass(LONGEST_WAIT_MS)],
    ],
    [
      'a name of another client is free, and so is that of a pod which is made anew',
      [startWeb('always'), startWeb('always', { client: B }), remove(B, 1), stop(ADMINISTRATOR, 0)],
    ],
    [
      'a refused start is no restart',
      [
        startWeb('on-failure:1'),
        ends(0, 1),
        file('one', undefined),
        pass(LONGEST_WAIT_MS),
        file('one', 'v1'),
        pass(LONGEST_WAIT_MS),
        ends(0, 1),
      ],
    ],
    [
      'always never gives up',
      [
        startWeb('always'),
        ...Array.from({ length: 14 }, () => [ends(0, 1), pass(LONGEST_WAIT_MS)]).flat(),
      ],
    ],
    [
      'a clock that is set back by hours delays no restart, also if the next daemon waits for it',
      [
        startWeb('always'),
        ends(0, 1),
        setClock(-30 * HOUR_MS),
        pass(500),
        ends(0, 1),
        killDaemon(),
        setClock(-30 * HOUR_MS),
        startDaemon(),
        pass(LONGEST_WAIT_MS),
      ],
    ],
    [
      'a refused start leaves the wait as it was, whatever the clock was set to',
      [
        startWeb('always'),
        ends(0, 1),
        setClock(30 * HOUR_MS),
        grant('one', 'none'),
        startAgain(A, 0),
      ],
    ],
    [
      'a clock that is set between daemons clears no failure',
      [
        startWeb('on-failure:1'),
        ends(0, 1),
        pass(500),
        killDaemon(),
        setClock(30 * HOUR_MS),
        startDaemon(),
        ends(0, 1),
      ],
    ],
    [
      'the run that ended first makes room, whatever the clock was set to',
      [
        ...['a', 'b', 'c'].flatMap((name, index) => [
          startWeb('no', { name }),
          stop(A, index),
          setClock(-HOUR_MS),
        ]),
        startWeb('no', { name: 'd' }),
      ],
    ],
    [
      'a replacement by another program keeps to the number of runs of that program',
      [
        ...['a', 'b', 'c'].map((name) => startWeb('no', { name, program: 'two' })),
        startWeb('no'),
        startWeb('no', { program: 'two', replace: true }),
        stop(A, 0),
        startWeb('no', { program: 'two', replace: true }),
      ],
    ],
    [
      'a kept program that ended and was stopped stays stopped under the next daemon',
      [reload([kept('x', 1)]), ends(0, 0), stop(ADMINISTRATOR, 0), ...nextDaemon()],
    ],
    [
      'a kept program gets another name, and loses its runs when the keeper dies',
      [reload([kept('x')]), reload([kept('y')]), killKeeper(), pass(500), restart(A, 0)],
    ],
    [
      'a request at the moment of an end finds the run',
      VERBS.flatMap((verb) => [
        startWeb('always', { name: verb }),
        overlapping.uponEnd(0, verb),
        remove(A, 0),
      ]),
    ],
    [
      'a run that is stopped during its first start is stopped and gone',
      [overlapping.whileStarting(A, 'stop'), overlapping.whileStarting(A, 'remove')],
    ],
    [
      'a daemon that closes during a restart leaves the restart to the next one',
      [
        startWeb('always'),
        ends(0, 1),
        overlapping.whileStartingAgain(0, 'again', 'close'),
        startDaemon(),
      ],
    ],
    [
      'a client that leaves during its request leaves the run as it was, also for the next daemon',
      [
        startWeb('always'),
        ends(0, 1),
        overlapping.whileStartingAgain(0, 'startAgain', 'leave'),
        ...nextDaemon(),
        pass(LONGEST_WAIT_MS),
        startWeb('no', { name: 'db' }),
        ends(1, 0),
        overlapping.whileStartingAgain(1, 'startAgain', 'leave'),
        ...nextDaemon(),
      ],
    ],
    [
      'a client that leaves during a restart gets its run back',
      [startWeb('no'), overlapping.whileStartingAgain(0, 'restart', 'leave'), ...nextDaemon()],
    ],
    [
      'a daemon that dies during a stop leaves the stop to the next one',
      [startWeb('always'), overlapping.diesWhileStopping(0, undefined), pass(LONGEST_WAIT_MS)],
    ],
  ])('when %s', (_what, history) => playAll(history));
});
