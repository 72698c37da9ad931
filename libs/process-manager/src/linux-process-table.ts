import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { RUN_MARKER_VARIABLE } from './child-environment.js';
import { parseRunMarker, type RunMarker } from './run-marker.js';

// The scan is synchronous per process, which is cheap, and lets others run in between.
const PROCESSES_PER_TURN = 64;

/** One living process; zombies are not listed, since nothing of them runs. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** When it started, in clock ticks since boot. */
  readonly startTicks: number;
}

/**
 * Reads `/proc`. A process that ends or is not ours to read while we look is passed over. PIDs are
 * those of our own PID namespace, and so are the processes.
 */
export class LinuxProcessTable {
  /** Names the boot and the PID namespace in which a PID and a start time mean something. */
  readonly realm: string;

  constructor() {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
    this.realm = `${namespace}.${boot}`;
  }

  /** @throws what `readdir` throws, for example EMFILE. */
  async *pids(): AsyncGenerator<number, void, undefined> {
    let count = 0;
    for (const name of readdirSync('/proc')) {
      if (!/^[1-9][0-9]*$/.test(name)) continue;
      count += 1;
      if (count % PROCESSES_PER_TURN === 0) await nextTurn();
      yield Number(name);
    }
  }

  /** Every living process at about this moment. @throws what `readdir` throws. */
  async entries(): Promise<Map<number, ProcessEntry>> {
    const entries = new Map<number, ProcessEntry>();
    for await (const pid of this.pids()) {
      const entry = this.entry(pid);
      if (entry !== undefined) entries.set(pid, entry);
    }
    return entries;
  }

  /** A living process, or undefined when there is none or only a zombie. */
  entry(pid: number): ProcessEntry | undefined {
    const entry = this.#read(pid);
    return entry === undefined || /[ZX]/.test(entry.state) ? undefined : entry;
  }

  /** When the process started, even when it ended already but nobody collected it yet. */
  startTicks(pid: number): number | undefined {
    return this.#read(pid)?.startTicks;
  }

  /** The mark in the environment with which the process was started. */
  marker(pid: number): RunMarker | undefined {
    const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
    const prefix = `${RUN_MARKER_VARIABLE}=`;
    const found = environment?.split('\0').find((entry) => entry.startsWith(prefix));
    return found === undefined ? undefined : parseRunMarker(found.slice(prefix.length));
  }

  /** The file that the process runs, also when that name was replaced or removed since. */
  executable(pid: number): string | undefined {
    const target = attempt(() => readlinkSync(`/proc/${pid}/exe`));
    return target?.replace(/ \(deleted\)$/, '');
  }

  #read(pid: number): (ProcessEntry & { readonly state: string }) | undefined {
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
    if (stat === undefined) return undefined;
    // The second field is the name in brackets, in which a process may put brackets and blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parentPid, groupId, sessionId] = fields;
    return {
      pid,
      state,
      parentPid: Number(parentPid),
      groupId: Number(groupId),
      sessionId: Number(sessionId),
      startTicks: Number(fields[19]),
    };
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
