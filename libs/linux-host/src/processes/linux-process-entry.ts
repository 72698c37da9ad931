import { RUN_MARKER_VARIABLE } from '@wins/base';
import { readlinkSync } from 'node:fs';
import { readProcFile } from './read-proc-file.js';

/** One process at one moment, from `/proc`. Some properties are read on first access, and are undefined if the read fails. */
export class LinuxProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Start time in clock ticks since boot. */
  readonly startTicks: number;
  readonly isZombie: boolean;
  /** Processor time of the process and of its reaped children, in clock ticks. */
  readonly cpuTicks: number;
  readonly residentPages: number;
  #isBetweenPrograms = false;
  #environmentEnd: string | undefined;
  #marker: RunMarker | undefined | null = null;
  #executable: string | undefined | null = null;
  readonly #ownMounts: string;

  /** `ownMounts` is `mountsOf('self')`. */
  static read(pid: number, ownMounts: string): LinuxProcessEntry | undefined {
    const fields = statFieldsOf(pid);
    return fields === undefined ? undefined : new LinuxProcessEntry(pid, fields, ownMounts);
  }

  private constructor(pid: number, fields: readonly string[], ownMounts: string) {
    this.#ownMounts = ownMounts;
    this.#environmentEnd = environmentEndIn(fields);
    this.pid = pid;
    this.isZombie = /^[ZX]/.test(fields[0] ?? '');
    this.parentPid = Number(fields[1]);
    this.groupId = Number(fields[2]);
    this.sessionId = Number(fields[3]);
    this.startTicks = Number(fields[19]);
    this.cpuTicks = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    this.residentPages = Number(fields[21]);
  }

  /**
   * Marker in the initial environment of the process. Undefined, and not cached, if the environment cannot be read or
   * the process `isBetweenPrograms`. In the latter case, `createMarkReader` tries again.
   */
  get marker(): RunMarker | undefined {
    // A kernel thread has no environment, and a process that exits has lost its own.
    if (this.#environmentEnd === undefined) this.#marker = undefined;
    if (this.#marker === null) {
      const environment = attempt(() => readProcFile(`/proc/${this.pid}/environ`));
      this.#isBetweenPrograms = environment === '' && this.#changesProgram();
      if (environment === undefined || this.#isBetweenPrograms) return undefined;
      this.#marker = markerIn(environment);
    }
    return this.#marker;
  }

  /** True when {@link marker} is cached. Otherwise, that getter reads the environment, which may be large. */
  get isMarkRead(): boolean {
    return this.#marker !== null;
  }

  /** Takes over the mark of an earlier entry, unless the process has executed another program since. */
  keepMarkOf(earlier: LinuxProcessEntry | undefined): void {
    const end = this.#environmentEnd;
    const isSame =
      earlier?.startTicks === this.startTicks &&
      earlier.#environmentEnd === end &&
      end !== undefined &&
      end !== '0';
    if (isSame) this.#marker = earlier.#marker;
  }

  /** True when the last read found the process within `execve`, where it has no environment. */
  get isBetweenPrograms(): boolean {
    return this.#isBetweenPrograms;
  }

  /**
   * Path of the running executable, even if it was replaced or removed since. Undefined for a process with its own
   * mounts, such as one in a container: the creator of the mounts controls the meaning of the path.
   */
  get executable(): string | undefined {
    if (this.#executable === null) {
      const target = attempt(() => readlinkSync(`/proc/${this.pid}/exe`));
      const isHere = target !== undefined && mountsOf(this.pid) === this.#ownMounts;
      this.#executable = isHere ? target.replace(/ \(deleted\)$/, '') : undefined;
    }
    return this.#executable;
  }

  // Called after an empty read of the environment. Returns true if the process was within `execve`. There are two signs of this: the
  // address of the environment is still 0, or it has changed. If the address is unchanged and not 0, the environment really is empty.
  #changesProgram(): boolean {
    const before = this.#environmentEnd;
    this.#environmentEnd = environmentEndIn(statFieldsOf(this.pid) ?? []);
    const now = this.#environmentEnd;
    return now !== undefined && (now === '0' || now !== before);
  }
}

// Returns the fields after the name. The name may contain parentheses and spaces.
function statFieldsOf(pid: number): readonly string[] | undefined {
  const stat = attempt(() => readProcFile(`/proc/${pid}/stat`));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Returns `0` until the kernel has placed the environment; undefined for kernel threads and for processes that exit. */
function environmentEndIn(fields: readonly string[]): string | undefined {
  return Number(fields[20]) > 0 ? fields[48] : undefined;
}

/** Returns the id of a process's mount namespace; undefined if it cannot be read. Paths of the process are valid only in this namespace. */
export function mountsOf(pid: number | 'self'): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`));
}

// Search the environment instead of splitting it, because the process controls the size of the environment.
function markerIn(environment: string): RunMarker | undefined {
  const text = `\0${environment}\0`;
  const name = `\0${RUN_MARKER_VARIABLE}=`;
  const at = text.indexOf(name);
  if (at < 0) return undefined;
  const start = at + name.length;
  return parseRunMarker(text.slice(start, text.indexOf('\0', start)));
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Identifies the run and the daemon that started it. */
export interface RunMarker {
  readonly mark: string;
  /** Identifies the state directory that successive daemons share: 16 hexadecimal digits. */
  readonly lineage: string;
  /** `PID:start token` of the daemon. */
  readonly daemon: string;
}

const MARKER = /^([0-9a-f]{32}):([0-9a-f]{16}):([1-9][0-9]{0,9}:[0-9a-z.-]{1,128})$/;

export function formatRunMarker(marker: RunMarker): string {
  return `${marker.mark}:${marker.lineage}:${marker.daemon}`;
}

/** Returns undefined for a malformed text. */
export function parseRunMarker(text: string): RunMarker | undefined {
  const [, mark, lineage, daemon] = MARKER.exec(text) ?? [];
  return mark === undefined || lineage === undefined || daemon === undefined
    ? undefined
    : { mark, lineage, daemon };
}

/** The PID is 0 for a text without a colon. */
export function parseDaemon(daemon: string): { readonly pid: number; readonly startToken: string } {
  const colon = daemon.indexOf(':');
  return { pid: Number(daemon.slice(0, Math.max(0, colon))), startToken: daemon.slice(colon + 1) };
}
