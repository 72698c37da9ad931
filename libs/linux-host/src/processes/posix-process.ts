import { type HostExit, type HostProcess, type TreeUsage, errnoOf } from '@wins/base';
import type { ChildProcess } from 'node:child_process';
import os from 'node:os';
import type { Readable } from 'node:stream';
import type { LinuxProcessEntry } from './linux-process-entry.js';
import type { LinuxProcessTable } from './linux-process-table.js';
import type { RunCgroup } from './run-cgroups.js';
import { TreeCpuTime } from './tree-cpu-time.js';
import { findTreeMembers, type TreeLeader } from './tree-members.js';

export interface PosixChild {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly leader: TreeLeader;
  readonly startToken: string;
  /** Undefined without `/proc`. The session then knows only the process group. */
  readonly table: LinuxProcessTable | undefined;
  /** Present when a cgroup enforces the limits of the run. */
  readonly cgroup: RunCgroup | undefined;
  /** Signal that asks the program to end. Default SIGTERM. */
  readonly stopSignal: NodeJS.Signals | undefined;
}

/**
 * A program in its own session; `terminate` signals all its processes. Until the leader is reaped, nothing else can get its PID, so a signal to
 * its process group is safe. Afterwards, only processes that were just found to belong to the run get signals.
 */
export class PosixSession implements HostProcess {
  readonly pid: number;
  readonly startToken: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<HostExit>;
  readonly #leader: TreeLeader;
  readonly #table: LinuxProcessTable | undefined;
  readonly #cgroup: RunCgroup | undefined;
  readonly #stopSignal: NodeJS.Signals;
  readonly #cpuTime = new TreeCpuTime();
  #collected = false;
  #gone = false;

  constructor(options: PosixChild) {
    this.pid = options.leader.pid;
    this.startToken = options.startToken;
    this.stdout = options.stdout;
    this.stderr = options.stderr;
    this.#leader = options.leader;
    this.#table = options.table;
    this.#cgroup = options.cgroup;
    this.#stopSignal = options.stopSignal ?? 'SIGTERM';
    this.exited = new Promise((resolve) => {
      options.child.once('exit', (code, signal) => {
        this.#collected = true;
        const outOfMemory = this.#cgroup?.hasRunOutOfMemory() === true;
        resolve({ ...exitOf(code, signal), ...(outOfMemory && { outOfMemory }) });
      });
    });
  }

  async isGone(): Promise<boolean> {
    if (!this.#collected) return false;
    if (this.#table === undefined) return !groupExists(this.pid);
    const isLeft = this.#cgroup?.isEmpty() === false;
    this.#gone = !isLeft && (await this.#members())?.length === 0;
    return this.#gone;
  }

  /**
   * The processor time is a multiple of 10 ms. It omits the time that an ended process used since the last measurement,
   * unless a parent waited for that process.
   */
  async usage(): Promise<TreeUsage | undefined> {
    if (this.#table === undefined) return undefined;
    const { pageBytes } = this.#table;
    let members: readonly LinuxProcessEntry[];
    try {
      members = this.#gone ? [] : (await this.#table.trees()).membersOf(this.#leader);
    } catch {
      return undefined;
    }
    return {
      cpuMs: this.#cpuTime.update(members),
      memoryBytes: members.reduce((sum, each) => sum + each.residentPages * pageBytes, 0),
      processes: members.length,
    };
  }

  async terminate(mode: 'graceful' | 'force'): Promise<void> {
    if (mode === 'force') this.#cgroup?.kill();
    const byGroup = !this.#collected || this.#table === undefined;
    const signal = mode === 'force' ? 'SIGKILL' : this.#stopSignal;
    if (byGroup) sendSignal(-this.pid, signal);
    for (const member of (await this.#members()) ?? []) {
      const isLeft = !byGroup || member.groupId !== this.pid;
      if (isLeft && this.#table?.lives(member) === true) sendSignal(member.pid, signal);
    }
  }

  close(): void {
    this.stdout.destroy();
    this.stderr.destroy();
    this.#cgroup?.remove();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #members(): Promise<LinuxProcessEntry[] | undefined> {
    try {
      if (this.#table === undefined) return [];
      return await findTreeMembers(await this.#table.processes(), this.#leader);
    } catch {
      // Reading failed, perhaps because no file descriptor is free. The caller retries.
      return undefined;
    }
  }
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): HostExit {
  if (signal === null) return { code: code ?? 0 };
  return { code: 128 + os.constants.signals[signal], signal };
}

function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Signals a process, or a group when `pid` is negative. Ignores one that has ended or may not be signalled. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error;
  }
}
