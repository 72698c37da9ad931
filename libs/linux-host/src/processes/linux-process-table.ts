import { Serial } from '@wins/base';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { inTurns } from './mark-reader.js';
import { LinuxProcessEntry, mountsOf } from './linux-process-entry.js';
import { pageBytes } from './read-proc-file.js';
import { indexTrees, type TreeIndex } from './tree-members.js';

const PROCESSES_PER_TURN = 64;

export type LinuxProcesses = ReadonlyMap<number, LinuxProcessEntry>;

/** Sees only the PID namespace of this process. */
export class LinuxProcessTable {
  /** Identifies the boot and the PID namespace in which PIDs and start times are valid. */
  readonly realm: string;
  readonly pageBytes = pageBytes();
  readonly #ownMounts = mountsOf('self') ?? '';
  readonly #trees = new WeakMap<LinuxProcesses, Promise<TreeIndex<LinuxProcessEntry>>>();
  readonly #scans = new Serial();
  #next: Promise<LinuxProcesses> | undefined;
  #latest: LinuxProcesses = new Map();

  constructor() {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
    this.realm = `${namespace}.${boot}`;
  }

  /** Returns the living processes, from a scan begun after the call. Calls during a scan share the next one. @throws as `readdir`, such as EMFILE. */
  processes(): Promise<LinuxProcesses> {
    return (this.#next ??= this.#scans.run(async () => {
      this.#next = undefined;
      this.#latest = await scanProcesses(this.#ownMounts, this.#latest);
      return this.#latest;
    }));
  }

  /** Scans and throws like `processes`. */
  async trees(): Promise<TreeIndex<LinuxProcessEntry>> {
    const processes = await this.processes();
    const trees = this.#trees.get(processes) ?? indexTrees([...processes.values()]);
    this.#trees.set(processes, trees);
    return trees;
  }

  /** Undefined for a missing process or a zombie. */
  entry(pid: number): LinuxProcessEntry | undefined {
    const entry = LinuxProcessEntry.read(pid, this.#ownMounts);
    return entry?.isZombie === true ? undefined : entry;
  }

  /** Whether the process still exists, and its PID was not reused. */
  lives({ pid, startTicks }: LinuxProcessEntry): boolean {
    return this.entry(pid)?.startTicks === startTicks;
  }

  /** Also works for a zombie. */
  startTicks(pid: number): number | undefined {
    return LinuxProcessEntry.read(pid, this.#ownMounts)?.startTicks;
  }
}

async function scanProcesses(ownMounts: string, before: LinuxProcesses): Promise<LinuxProcesses> {
  const processes = new Map<number, LinuxProcessEntry>();
  const names = readdirSync('/proc').filter((name) => /^[1-9][0-9]*$/.test(name));
  for await (const name of inTurns(names, PROCESSES_PER_TURN)) {
    const entry = LinuxProcessEntry.read(Number(name), ownMounts);
    if (entry?.isZombie !== false) continue;
    entry.keepMarkOf(before.get(entry.pid));
    processes.set(entry.pid, entry);
  }
  return processes;
}
