// How things are measured: floor and subject alternate, and the median of the pairs counts: machines drift, ratios hold.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const CALLS = 2000;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const now = () => performance.now();

/** Programs that a benchmark starts and ends. */
export class Programs {
  #running = [];

  /** @param largeBytes the larger of two transfers, whose times are compared; the smaller is a sixteenth of it */
  constructor(environment, largeBytes = 1024 * 1024 * 1024) {
    this.environment = environment;
    this.largeBytes = largeBytes;
  }

  own(...children) {
    this.#running.push(...children);
  }

  /** Resolves with the first line that says that the program is ready. */
  start(args, isReady) {
    const child = spawn(process.execPath, args, {
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

  /** Wall time in ms of a command whose output nobody keeps. */
  async time(args) {
    const start = now();
    const child = spawn(process.execPath, args, {
      env: this.environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    return now() - start;
  }

  /** MB/s of what one size takes longer than the other: start-up cancels out. */
  async throughput(argsFor) {
    const smallBytes = this.largeBytes / 16;
    const small = await this.time(argsFor(smallBytes));
    const large = await this.time(argsFor(this.largeBytes));
    return (this.largeBytes - smallBytes) / 1e3 / (large - small);
  }

  end() {
    for (const child of this.#running) child.kill('SIGKILL');
  }
}

/** The median time of a call in ms, once it is warm. */
export async function p50(call) {
  for (let index = 0; index < 200; index += 1) await call();
  const times = [];
  for (let index = 0; index < CALLS; index += 1) {
    const start = now();
    await call();
    times.push(now() - start);
  }
  return median(times);
}

export async function pairs(count, floor, subject) {
  const results = [];
  for (let index = 0; index < count; index += 1) {
    results.push({ floor: await floor(), subject: await subject() });
  }
  return {
    floor: median(results.map((pair) => pair.floor)),
    subject: median(results.map((pair) => pair.subject)),
    ratio: median(results.map((pair) => pair.subject / pair.floor)),
    difference: median(results.map((pair) => pair.subject - pair.floor)),
  };
}

/** The table: one row for each figure and its target. */
export class Report {
  rows = [];

  add = (what, unit, { floor, subject }, figure, target, good) => {
    this.rows.push({
      what,
      floor: `${floor.toFixed(unit === 'ms' ? 2 : 0)} ${unit}`,
      wins: `${subject.toFixed(unit === 'ms' ? 2 : 0)} ${unit}`,
      figure,
      target,
      verdict: good ? 'met' : 'MISSED',
    });
  };
}
