import { RUN_MARKER_VARIABLE } from '@wins/base';
import { readlinkSync } from 'node:fs';
import { readProcFile } from './read-proc-file.js';

/**
 * One process as `/proc` showed it at one moment. What costs another read is read when it is first
 * asked for, and once. A process that has ended since, or is not ours to read, shows nothing.
 */
export class LinuxProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** When it started, in clock ticks since boot. */
  readonly startTicks: number;
  /** It has ended and only waits to be collected: nothing of it runs. */
  readonly isZombie: boolean;
  /** Processor time of the process and of those of its children that it has waited for, in clock ticks. */
  readonly cpuTicks: number;
  /** Its memory that is in RAM, in pages. */
  readonly residentPages: number;
  #isBetweenPrograms = false;
  #environmentEnd: string | undefined;
  #marker: RunMarker | undefined | null = null;
  #executable: string | undefined | null = null;

  readonly #ownMounts: string;

  /**
   * Reads a process; undefined when it does not exist.
   *
   * @param ownMounts - The result of `mountsOf` for this process.
   */
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
   * The mark in the environment with which the process was started. Undefined and not kept when that cannot be read now (there may be no
   * descriptors left), and while the process `isBetweenPrograms`: `createMarkReader` waits for that.
   */
  get marker(): RunMarker | undefined {
    if (this.#marker === null) {
      const environment = attempt(() => readProcFile(`/proc/${this.pid}/environ`));
      this.#isBetweenPrograms = environment === '' && this.#changesProgram();
      if (environment === undefined || this.#isBetweenPrograms) return undefined;
      this.#marker = markerIn(environment);
    }
    return this.#marker;
  }

  /** Whether {@link marker} is known without a look at the environment, which may be large. */
  get isMarkRead(): boolean {
    return this.#marker !== null;
  }

  /**
   * Takes over what an earlier look found in the environment, which may be large, when it is the same one: of the same process, that
   * has not changed its program since.
   */
  keepMarkOf(earlier: LinuxProcessEntry | undefined): void {
    const place = this.#environmentEnd;
    const isSame =
      earlier?.startTicks === this.startTicks &&
      earlier.#environmentEnd === place &&
      place !== undefined &&
      place !== '0';
    if (isSame) this.#marker = earlier.#marker;
  }

  /** The last look at the mark met the process within `execve`, where it has no environment: what it carries is unknown. */
  get isBetweenPrograms(): boolean {
    return this.#isBetweenPrograms;
  }

  /**
   * The file that the process runs, also when that name was replaced or removed since. Undefined for a process with mounts
   * of its own, such as a container's: their maker decides what a path means there.
   */
  get executable(): string | undefined {
    if (this.#executable === null) {
      const target = attempt(() => readlinkSync(`/proc/${this.pid}/exe`));
      const isHere = target !== undefined && mountsOf(this.pid) === this.#ownMounts;
      this.#executable = isHere ? target.replace(/ \(deleted\)$/, '') : undefined;
    }
    return this.#executable;
  }

  // Within `execve` a process has new memory with no environment in it yet, and what is read of the old memory is empty
  // once that is gone. What is read between two looks that find the environment at one place is the process's own.
  #changesProgram(): boolean {
    const before = this.#environmentEnd;
    this.#environmentEnd = environmentEndIn(statFieldsOf(this.pid) ?? []);
    const now = this.#environmentEnd;
    return now !== undefined && (now === '0' || now !== before);
  }
}

// From the third field on: the second is the name in brackets, in which a process may put brackets and blanks.
function statFieldsOf(pid: number): readonly string[] | undefined {
  const stat = attempt(() => readProcFile(`/proc/${pid}/stat`));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The address where the environment ends, `0` while it is not in place; undefined without memory (the kernel's threads). */
function environmentEndIn(fields: readonly string[]): string | undefined {
  return Number(fields[20]) > 0 ? fields[48] : undefined;
}

/** Names the mount namespace in which the paths of a process mean something; undefined when it cannot be read. */
export function mountsOf(pid: number | 'self'): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`));
}

// The process controls the size of this block, so it is searched, never parsed.
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

/** Marker that every process of a run carries: its run, and the daemon that started it. */
export interface RunMarker {
  readonly mark: string;
  /** The line of daemons that one state directory belongs to: 16 hexadecimal digits. */
  readonly lineage: string;
  /** `PID:start token` of the daemon. */
  readonly daemon: string;
}

const MARKER = /^([0-9a-f]{32}):([0-9a-f]{16}):([1-9][0-9]{0,9}:[0-9a-z.-]{1,128})$/;

export function formatRunMarker(marker: RunMarker): string {
  return `${marker.mark}:${marker.lineage}:${marker.daemon}`;
}

/** Reads a mark; undefined for anything that we did not write. */
export function parseRunMarker(text: string): RunMarker | undefined {
  const [, mark, lineage, daemon] = MARKER.exec(text) ?? [];
  return mark === undefined || lineage === undefined || daemon === undefined
    ? undefined
    : { mark, lineage, daemon };
}

/** Splits `PID:start token`; the PID is 0 when the text is not of that form. */
export function parseDaemon(daemon: string): { readonly pid: number; readonly startToken: string } {
  const colon = daemon.indexOf(':');
  return { pid: Number(daemon.slice(0, Math.max(0, colon))), startToken: daemon.slice(colon + 1) };
}
