import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '../errno-of.js';

const LOOK_EVERY_MS = 20;
/** Runs the program only after the starter has recorded the process. If the starter dies first, the shell ends. */
const ONCE_RECORDED = 'read -r word <&3 && exec "$@" 3<&-';

export interface DetachedProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** File for its output. Default: the output is discarded. */
  readonly log?: string;
}

/** A PID and a start time, because the system reuses PIDs. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between boot and start: field 22 of `/proc/PID/stat`. */
  readonly started: string;
}

/** A process that outlives its starter. Other processes find it by a file. Linux only; replaces a service where there is no service manager. */
export class DetachedProcess {
  readonly #record: string;
  /** File that exists from `stop` until the process has ended. */
  readonly #stopping: string;

  /** @param record - Absolute path of the file that records the process; its folder must exist. */
  constructor(record: string) {
    this.#record = record;
    this.#stopping = `${record}.stopping`;
  }

  /** Undefined when the process does not run. */
  get pid(): number | undefined {
    return this.#identity()?.pid;
  }

  /** True from `stop` until the process has ended. */
  get isStopping(): boolean {
    return this.pid !== undefined && existsSync(this.#stopping);
  }

  /**
   * Waits for the previous process to end, and kills it after `graceMs`. Then starts the program and records it.
   *
   * @throws a Node error when the file cannot be executed.
   */
  async start(program: DetachedProgram, graceMs: number): Promise<void> {
    const { file, args, environment, log = '/dev/null' } = program;
    await this.#ended(graceMs);
    accessSync(file, constants.X_OK);
    const output = openSync(log, 'a', 0o600);
    try {
      const child = spawn('/bin/sh', ['-c', ONCE_RECORDED, 'sh', file, ...args], {
        cwd: '/',
        env: { ...environment },
        detached: true,
        stdio: ['ignore', output, output, 'pipe'],
      });
      await once(child, 'spawn');
      child.unref();
      const { pid = 0 } = child;
      writeFileSync(this.#record, `${pid} ${startOf(pid) ?? ''}`);
      const recorded = child.stdio[3] as Writable;
      // If the child has ended already, this write fails.
      recorded.on('error', () => undefined).end('recorded\n');
    } finally {
      closeSync(output);
    }
  }

  /** Sends SIGTERM, then SIGKILL after `graceMs`, and resolves when the process is gone. */
  async stop(graceMs: number): Promise<void> {
    const found = this.#identity();
    if (found === undefined) return;
    // Written before the signal, so that no other process takes a stopping process for a running one.
    writeFileSync(this.#stopping, '');
    signal(found, 'SIGTERM');
    await this.#ended(graceMs);
  }

  async #ended(graceMs: number): Promise<void> {
    const found = this.#identity();
    if (found !== undefined) await endOf(found, graceMs);
    for (const file of [this.#record, this.#stopping]) rmSync(file, { force: true });
  }

  #identity(): ProcessIdentity | undefined {
    const [pid = '', started = ''] = (readIfThere(this.#record) ?? '').split(' ');
    const found = { pid: Number(pid), started };
    return isAlive(found) ? found : undefined;
  }
}

/** Returns undefined for no process or a zombie. Linux only. */
export function processOf(pid: number): ProcessIdentity | undefined {
  const started = startOf(pid);
  return started === undefined ? undefined : { pid, started };
}

/** Kills a process and waits for its end. Linux only. */
export async function killProcess(found: ProcessIdentity): Promise<void> {
  await endOf(found, 0);
}

async function endOf(found: ProcessIdentity, graceMs: number): Promise<void> {
  const endMs = performance.now() + graceMs;
  while (isAlive(found)) {
    if (performance.now() >= endMs) signal(found, 'SIGKILL');
    await delay(LOOK_EVERY_MS);
  }
}

function isAlive({ pid, started }: ProcessIdentity): boolean {
  return started !== '' && startOf(pid) === started;
}

function signal({ pid }: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}

function startOf(pid: number): string | undefined {
  const text = readIfThere(`/proc/${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
