// Measures the costs of wins and of its floors (plainer programs) in turn, in rounds. The speed of a machine drifts, but the ratios hold.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import {
  beginCounts,
  beginProcessorTime,
  canCount,
  countedCommand,
  mapValues,
  MEASURED,
} from './costs.mjs';
import { median } from './summary.mjs';

export const ROUNDS = 5;
const WARM_CALLS = 200;
const CALLS = 2000;
/** Fraction of the work that runs first as warm-up, and again for counting. */
const COUNTED_SHARE = 0.1;

/**
 * @typedef {{ value: number, client?: object, daemon?: object }} Round
 * @returns {Round[]}
 */
export const noRounds = () => [];

const now = () => performance.now();

export class Programs {
  #running = [];
  #counts;

  constructor(environment) {
    this.environment = environment;
  }

  own(...children) {
    this.#running.push(...children);
  }

  /** Resolves with the first line for which `isReady` is true. */
  start(args, isReady) {
    const child = spawn(process.execPath, [...(canCount ? MEASURED : []), ...args], {
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.own(child);
    return new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          if (isReady(line)) resolve({ child, line });
        });
      }
      child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    });
  }

  /** Returns the wall time of a command in ms; discards its output. */
  async time(
    args,
    { file = process.execPath, isNode = true, environment = {}, exitCode = 0 } = {},
  ) {
    const counted = this.#counts && countedCommand(file, args, isNode);
    const [program, ...rest] = counted?.command ?? [file, ...args];
    const start = now();
    const child = spawn(program, rest, {
      env: { ...this.environment, ...environment, ...counted?.environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    if (code !== exitCode)
      throw new Error(`${file} ${args.join(' ')} ended with ${code}; wanted ${exitCode}`);
    const ms = now() - start;
    if (counted) this.#counts.push(counted.counts());
    return ms;
  }

  /** Counts the costs of commands that start from now on. The returned function stops the counting and returns the sums. */
  countNew() {
    this.#counts = [];
    return () => {
      const counts = this.#counts;
      this.#counts = undefined;
      const sum = (key) => counts.reduce((total, each) => total + each[key], 0);
      // One unknown value makes the sum NaN.
      return { systemCalls: sum('systemCalls'), heapBytes: sum('heapBytes') };
    };
  }

  end() {
    for (const child of this.#running) child.kill('SIGKILL');
  }
}

/**
 * A benchmark run, which collects rows. A row has a `name`, the `unit` of its values, and a `figure`. A row with costs also has `per`, the
 * unit of work for these costs. `warmUps`: how often a tenth of the work runs before the rounds; default 1.
 *
 * The figure describes the result of the row. Its field `is` says how the result is computed. The floor is a plainer program for comparison.
 *
 * - `ratio`: the value for `wins` divided by the value for the floor
 * - `growth`: the value for `wins` minus the value for the floor
 * - `value`: the value for `wins` alone
 *
 * The figure may have a target, `atLeast` or `atMost`.
 */
export class Run {
  rows = [];
  /** Loads of short commands: the `words` of a command, names and `bytes` of its `bundles`, and `modules` of Node. */
  loaded = [];

  /** @param wants - Takes the name of a row; returns whether that row was requested. */
  constructor({ quick, wants, rounds = ROUNDS }) {
    this.wants = wants;
    this.rounds = rounds;
    this.share = quick ? COUNTED_SHARE : 1;
  }

  /**
   * Measures several ways to do the same work. Each round measures every way once. The first way is the floor (a plainer program), and the last
   * way is `wins`.
   *
   * @param ways - The ways by name. Each has `work(share)`. It may also have `less(share)`, and the roles to measure: `client` and `daemon`.
   * `work` does that share of the work. It resolves with the number of `units` done and the duration in `ms`. If there is no `valueOf`, the result
   * also has the `value`. `less` does work whose costs are subtracted, such as a start. `isNode: false`: not a program of Node, so that only its
   * processor time is measured.
   */
  async measure(row, ways, valueOf) {
    if (!this.wants(row.name)) return;
    const results = Object.keys(ways).map((name) => ({ name, rounds: noRounds() }));
    for (const way of Object.values(ways))
      for (let left = row.warmUps ?? 1; left > 0; left -= 1) await way.work(COUNTED_SHARE);
    for (let round = 0; round < this.rounds; round += 1)
      for (const { name, rounds } of results)
        rounds.push(await roundOf(ways[name], this.share, valueOf));
    this.add(row, results);
  }

  /** Adds a row that is already measured. Each element of `ways` has the `name` of one way to do the work, and its results in `rounds`. */
  add(row, ways) {
    if (!this.wants(row.name)) return;
    this.rows.push({ ...row, ways });
    process.stderr.write(`measured: ${row.name}\n`);
  }

  addOnce(row, values) {
    this.add(
      row,
      Object.entries(values).map(([name, value]) => ({ name, rounds: [{ value }] })),
    );
  }
}

async function roundOf(way, share, valueOf) {
  const roles = rolesOf(way);
  const { units, ms, ...timed } = await take(way, share, () => beginProcessorTime(roles));
  const round = { value: timed.value ?? valueOf({ units, ms }), ...timed.costs };
  if (Object.keys(roles).length === 0 || way.isNode === false) return round;
  const { costs } = await take(way, COUNTED_SHARE, () => beginCounts(roles));
  for (const role of Object.keys(roles)) Object.assign(round[role], costs[role]);
  return round;
}

function rolesOf({ client, daemon }) {
  if (!canCount) return {};
  return { ...(client && { client }), ...(daemon && { daemon }) };
}

/** Returns the costs of each role per unit of work. */
async function take({ work, less }, share, begin) {
  const run = async (action) => {
    const end = await begin();
    const done = await action(share);
    return { ...done, costs: await end() };
  };
  const subtracted = less && (await run(less));
  const done = await run(work);
  const units = done.units - (subtracted?.units ?? 0);
  const costs = mapValues(done.costs, (of, role) =>
    mapValues(of, (cost, name) => (cost - (subtracted?.costs[role][name] ?? 0)) / units),
  );
  return { ...done, units, ms: done.ms - (subtracted?.ms ?? 0), costs };
}

/** Repeats a call after a warm-up; the value is the median duration in ms. */
export const medianCall = (call) => async (share) => {
  const times = [];
  const warm = Math.ceil(WARM_CALLS * share);
  for (let index = 0; index < warm + CALLS * share; index += 1) {
    const start = now();
    await call();
    times.push(now() - start);
  }
  return { units: times.length, value: median(times.slice(warm)) };
};

/** Returns a function that runs `action` `count * share` times. `action` resolves with its duration in ms; the function, with the median as `value`. */
export const medianTime = (count, action) => async (share) => {
  const times = [];
  for (let left = count * share; left > 0; left -= 1) times.push(await action());
  return { units: times.length, value: median(times) };
};
