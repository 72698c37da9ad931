import { errnoOf, reasonOf, type TreeLimits } from '@wins/base';
import * as fs from 'node:fs';
import path from 'node:path';
import { readProcFile } from './read-proc-file.js';

const RUN_PREFIX = 'wins-run-';
/** A cgroup that enables controllers for its children must not contain processes, so the daemon moves to this child. */
const DAEMON_LEAF = 'wins-daemon';
const CONTROLLERS: Readonly<Record<keyof TreeLimits, string>> = {
  memoryBytes: 'memory',
  cpus: 'cpu',
  pids: 'pids',
};
/** In microseconds; the kernel's default. */
const CPU_PERIOD_US = 100_000;

/** The cgroup of one run: https://docs.kernel.org/admin-guide/cgroup-v2.html */
export class RunCgroup {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A process that writes 0 to this file joins the cgroup, with everything that it starts afterwards. */
  get procsFile(): string {
    return path.join(this.#folder, 'cgroup.procs');
  }

  /** Whether the kernel killed a process for lack of memory. */
  hasRunOutOfMemory(): boolean {
    const [, kills = '0'] = /^oom_kill (\d+)$/m.exec(this.#read('memory.events')) ?? [];
    return kills !== '0';
  }

  /** False if any process is in the cgroup, even one that `/proc` does not attribute to the run. */
  isEmpty(): boolean {
    return !/^populated 1$/m.test(this.#read('cgroup.events'));
  }

  /** Does nothing before Linux 5.14. */
  kill(): void {
    try {
      fs.writeFileSync(path.join(this.#folder, 'cgroup.kill'), '1', { flag: 'r+' });
    } catch {
      // Ignored, because the processes are also signalled one by one.
    }
  }

  /** A cgroup that is not empty remains; a later daemon removes it. */
  remove(): void {
    removeQuietly(this.#folder);
  }

  #read(file: string): string {
    try {
      return fs.readFileSync(path.join(this.#folder, file), 'latin1');
    } catch {
      return '';
    }
  }
}

export class RunCgroups {
  readonly #named: string | undefined;
  #own: string | undefined;

  /** @param folder - A cgroup v2. Default: that of this process, if the system has cgroups v2. */
  constructor(folder?: string) {
    this.#named = folder;
  }

  /**
   * Looked up by the first run with limits, because a host of containers has thousands of mounts, and again if that failed, as without a free file
   * descriptor.
   */
  get #folder(): string | undefined {
    return this.#named ?? (this.#own ??= ownCgroup());
  }

  /** Enables the necessary controllers. If `limits` cannot be enforced, returns the reason. */
  whyNot(limits: TreeLimits): string | undefined {
    const folder = this.#folder;
    if (folder === undefined) return 'this system has no cgroup v2';
    try {
      const wanted = controllersOf(limits);
      const missing = lacking(wanted, path.join(folder, 'cgroup.controllers'));
      if (missing.length > 0) return `the cgroup ${folder} has no controller ${missing.join(', ')}`;
      this.#enable(folder, wanted);
      return undefined;
    } catch (error) {
      return `the cgroup ${folder} is not delegated to this daemon: ${reasonOf(error)}`;
    }
  }

  /** @throws as `node:fs`, after removing the cgroup. */
  create(mark: string, limits: TreeLimits): RunCgroup {
    if (this.#folder === undefined) throw new Error('this system has no cgroup v2');
    sweep(this.#folder);
    const folder = path.join(this.#folder, `${RUN_PREFIX}${process.pid}-${mark}`);
    fs.mkdirSync(folder);
    try {
      for (const [file, value] of settingsOf(limits))
        fs.writeFileSync(path.join(folder, file), value, { flag: 'r+' });
      if (limits.memoryBytes !== undefined) forbidSwap(folder);
      return new RunCgroup(folder);
    } catch (error) {
      removeQuietly(folder);
      throw error;
    }
  }

  #enable(folder: string, wanted: readonly string[]): void {
    const control = path.join(folder, 'cgroup.subtree_control');
    if (lacking(wanted, control).length === 0) return;
    // The root cgroup, the only one without this file, may enable controllers although it contains processes.
    if (fs.existsSync(path.join(folder, 'cgroup.type'))) leave(folder);
    const change = wanted.map((controller) => `+${controller}`).join(' ');
    fs.writeFileSync(control, change, { flag: 'r+' });
  }
}

/** Removes empty cgroups of dead daemons. Keeps cgroups of living daemons, because a run may be about to start in them. */
function sweep(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith(RUN_PREFIX)) continue;
    const pid = Number.parseInt(name.slice(RUN_PREFIX.length), 10);
    if (!fs.existsSync(`/proc/${pid}`)) removeQuietly(path.join(folder, name));
  }
}

function controllersOf(limits: TreeLimits): string[] {
  const named = Object.entries(limits).filter(([, value]) => value !== undefined);
  return named.map(([name]) => CONTROLLERS[name as keyof TreeLimits]);
}

function lacking(wanted: readonly string[], file: string): string[] {
  const found = fs.readFileSync(file, 'latin1').split(/\s+/);
  return wanted.filter((controller) => !found.includes(controller));
}

function* settingsOf({ memoryBytes, cpus, pids }: TreeLimits): Generator<[string, string]> {
  if (memoryBytes !== undefined) {
    yield ['memory.max', String(memoryBytes)];
    // When memory runs out, the kernel kills the whole run, because half a program is useless.
    yield ['memory.oom.group', '1'];
  }
  if (cpus !== undefined) yield ['cpu.max', `${Math.round(cpus * CPU_PERIOD_US)} ${CPU_PERIOD_US}`];
  if (pids !== undefined) yield ['pids.max', String(pids)];
}

/** The memory limit covers only RAM, so swap is forbidden. Without swap accounting, `memory.swap.max` does not exist. */
function forbidSwap(folder: string): void {
  try {
    fs.writeFileSync(path.join(folder, 'memory.swap.max'), '0', { flag: 'r+' });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** Moves this process and its descendants into a child cgroup. If other processes remain, the kernel enables no controllers. */
function leave(folder: string): void {
  const leaf = path.join(folder, DAEMON_LEAF);
  fs.mkdirSync(leaf, { recursive: true });
  const members = fs.readFileSync(path.join(folder, 'cgroup.procs'), 'latin1').split('\n');
  for (const pid of members.filter((text) => text !== '' && isOurs(Number(text)))) {
    try {
      fs.writeFileSync(path.join(leaf, 'cgroup.procs'), pid, { flag: 'r+' });
    } catch (error) {
      if (errnoOf(error) !== 'ESRCH') throw error;
    }
  }
}

function isOurs(pid: number): boolean {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === process.pid) return true;
  return false;
}

function parentOf(pid: number): number {
  try {
    const stat = readProcFile(`/proc/${pid}/stat`);
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the cgroup v2 in which this process was started. */
function ownCgroup(): string | undefined {
  try {
    const [, own = ''] = /^0::(\/.*)$/m.exec(fs.readFileSync('/proc/self/cgroup', 'latin1')) ?? [];
    // ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS … - TYPE: https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'latin1');
    const [, root = '', mountPoint = ''] =
      /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts) ?? [];
    const below = path.posix.relative(root, own);
    if (own === '' || mountPoint === '' || /^\.\.(?:\/|$)/.test(below)) return undefined;
    const folder = path.join(mountPoint, below);
    return path.basename(folder) === DAEMON_LEAF ? path.dirname(folder) : folder;
  } catch {
    return undefined;
  }
}

function removeQuietly(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // The cgroup is not empty, or does not exist.
  }
}
