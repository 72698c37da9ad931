import { errnoOf, messageOf, quoteText } from '@wins/base';
import { StateFile } from '@wins/files';
import { fileSystemError, TrustedFileError } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { foundIn, ProcessError } from '../process-error.js';
import {
  detachedRecord,
  folderNameOf,
  keeperRecord,
  MARK,
  MAX_STATE_BYTES,
  runEnd,
  runRecord,
  stateFile,
  type DetachedRecord,
  type KeeperRecord,
  type RunEnd,
  type RunRecord,
} from './run-record.js';

const RUN = 'run.json';
const END = 'end.json';
/** Disk space of a record before it is written. */
const RESERVED = 'reserved';
const END_RESERVED = 'end.reserved';
/** Bytes reserved for a process's PID and start token. */
const ROOM_FOR_PROCESS = 256;
/** Bytes reserved for the record of an end. */
const ROOM_FOR_END = 1024;
const KEEPER_FILE = /^keeper\.[0-9a-f]{16}\.json$/;

/** A record that is not taken into account. */
export interface IgnoredRecord {
  readonly file: string;
  readonly why: string;
  /** True when the file could not be read, and so may be a valid record. */
  readonly isUnread: boolean;
}

/** Records of runs on disk, and the files that are no usable record. */
export interface RecordsFound {
  /** Records of runs without a recorded end. */
  readonly records: readonly RunRecord[];
  readonly ignored: readonly IgnoredRecord[];
}

/**
 * Folders of runs, one per run, in a private directory. Each contains the record of the run; that of a detached run also has the last recorded
 * end, the restart plan and the spool. The calls of a manager for its own runs are synchronous, so that a run is recorded before any other code
 * runs. Records are not flushed, because no process survives a crash of the machine.
 */
export class RunFolders {
  /** The folder `runs` in the state directory. */
  readonly folder: string;

  constructor(stateDirectory: string) {
    this.folder = path.join(stateDirectory, 'runs');
  }

  /** Reserves disk space, so that a full disk prevents the start instead of ending a run. @throws ProcessError `stateUnavailable`. */
  reserve(record: Omit<RunRecord, 'pid' | 'startToken' | 'version'>): void {
    const { mark } = record.run;
    const reserved = `${JSON.stringify(record)}${' '.repeat(ROOM_FOR_PROCESS)}`;
    try {
      fs.mkdirSync(this.folderOf(mark), { mode: 0o700 });
      fs.writeFileSync(this.#fileOf(mark, RESERVED), reserved, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      this.forget(mark);
      throw unrecorded(error, this.folder, mark);
    }
  }

  /** Uses the reserved space. @throws ProcessError `stateUnavailable`. */
  write(record: Omit<RunRecord, 'version'>): void {
    const { mark } = record.run;
    try {
      useReserved(this.#fileOf(mark, RESERVED), this.#fileOf(mark, RUN), { version: 1, ...record });
    } catch (error) {
      throw unrecorded(error, this.folder, mark);
    }
  }

  /** If the removal fails, the next recovery finds the record stale. */
  forget(mark: string): void {
    remove(this.folderOf(mark));
  }

  /**
   * Removes and reports records that are links, over 64 KiB, or malformed, and their folders unless they have other files.
   * Reports unreadable records without removing them. Removes reservations of starts that never happened.
   */
  async readAll(): Promise<RecordsFound> {
    const found = await this.read();
    for (const { file, isUnread } of found.ignored) {
      if (isUnread) continue;
      remove(file);
      removeEmpty(path.dirname(file));
    }
    for (const name of this.#names(MARK))
      if (fs.existsSync(this.#fileOf(name, RESERVED))) this.forget(name);
    return found;
  }

  /** Changes nothing. @throws ProcessError `stateUnavailable`. */
  async read(): Promise<RecordsFound> {
    const records: RunRecord[] = [];
    const ignored: IgnoredRecord[] = [];
    for (const name of this.#names(MARK)) {
      try {
        const record = await this.#record(name).read();
        const end = record && (await this.endOf(record).catch(() => undefined));
        if (record !== undefined && end === undefined) records.push(record);
      } catch (error) {
        const file = this.#fileOf(name, RUN);
        ignored.push({ file, why: foundIn(error, file), isUnread: isUnread(error) });
      }
    }
    return { records, ignored };
  }

  /** Returns the path of one run's folder; `name` is the mark of its first attempt. */
  folderOf(name: string): string {
    return path.join(this.folder, name);
  }

  run(name: string): StateFile<DetachedRecord> {
    return stateFile(this.#fileOf(name, RUN), detachedRecord);
  }

  /** Returns the file that tells how an attempt ended. It may describe an earlier attempt. It is missing if the keeper died before writing it. */
  end(name: string): StateFile<RunEnd> {
    return stateFile(this.#fileOf(name, END), runEnd);
  }

  /** Reserves disk space, so that the end of an attempt can be recorded on a full disk. @throws ProcessError `stateUnavailable`. */
  reserveEnd(name: string): void {
    try {
      fs.writeFileSync(this.#fileOf(name, END_RESERVED), ' '.repeat(ROOM_FOR_END), { mode: 0o600 });
    } catch (error) {
      throw unrecorded(error, this.folder, name);
    }
  }

  /** Records how an attempt ended; on a full disk, in the reserved space. @throws as {@link StateFile.write}. */
  async writeEnd(name: string, end: RunEnd): Promise<void> {
    const file = this.end(name);
    try {
      await file.write(end);
    } catch (error) {
      try {
        useReserved(this.#fileOf(name, END_RESERVED), file.path, end);
      } catch {
        throw error;
      }
    }
  }

  /** Ignores the end of an earlier attempt. */
  async endOf(attempt: Pick<RunRecord, 'continues' | 'run'>): Promise<RunEnd | undefined> {
    const end = await this.end(folderNameOf(attempt)).read();
    return end?.mark === attempt.run.mark ? end : undefined;
  }

  /** Returns the folders of detached runs, also of those without a record. */
  async marks(): Promise<readonly string[]> {
    const marks: string[] = [];
    for (const name of this.#names(MARK)) {
      // Before the record is read, because a run that starts meanwhile has first the reservation and then the record.
      if (fs.existsSync(this.#fileOf(name, RESERVED))) continue;
      const record = await this.#record(name)
        .read()
        .catch(() => undefined);
      if (record === undefined || record.label !== undefined) marks.push(name);
    }
    return marks;
  }

  /** Any process that can read this file may start programs. */
  keeper(keeper: string): StateFile<KeeperRecord> {
    const name = createHash('sha256').update(keeper).digest('hex').slice(0, 16);
    return stateFile(path.join(this.folder, `keeper.${name}.json`), keeperRecord);
  }

  /** Skips unreadable records, but includes those of dead keepers. */
  async keepers(): Promise<readonly KeeperRecord[]> {
    const files = this.#names(KEEPER_FILE).map((name) =>
      stateFile(path.join(this.folder, name), keeperRecord),
    );
    const records = await Promise.all(files.map((file) => file.read().catch(() => undefined)));
    return records.filter((record) => record !== undefined);
  }

  /** Returns the detached runs without a recorded end. */
  async living(): Promise<readonly (RunRecord & Pick<DetachedRecord, 'label'>)[]> {
    const { records } = await this.read();
    return records.flatMap(({ label, ...record }) =>
      label === undefined ? [] : [{ ...record, label }],
    );
  }

  /** Returns the size of a run's files; 0 for an unknown run. */
  async sizeOf(name: string): Promise<number> {
    const folder = this.folderOf(name);
    const names = await readdir(folder).catch(() => []);
    const sizes = await Promise.all(
      names.map((file) =>
        stat(path.join(folder, file)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async remove(name: string): Promise<void> {
    await rm(this.folderOf(name), { recursive: true, force: true });
  }

  /** Throws for a record that is no usable one. */
  #record(name: string): StateFile<RunRecord> {
    const unusable = (): never => {
      throw new ProcessError('stateUnavailable', 'it is not the record of the run of its folder');
    };
    return new StateFile({
      path: this.#fileOf(name, RUN),
      maxBytes: MAX_STATE_BYTES,
      parse: (json) => {
        const record = runRecord.parse(json);
        return folderNameOf(record) === name ? record : unusable();
      },
      damaged: unusable,
    });
  }

  #fileOf(name: string, file: string): string {
    return path.join(this.folderOf(name), file);
  }

  /** Returns nothing for a folder that no daemon has made yet. @throws ProcessError `stateUnavailable`. */
  #names(pattern: RegExp): readonly string[] {
    try {
      return fs.readdirSync(this.folder).filter((name) => pattern.test(name));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      const found = foundIn(error, this.folder);
      const message = `cannot read the run records in ${quoteText(this.folder)}: ${found}`;
      throw new ProcessError('stateUnavailable', message, { cause: error });
    }
  }
}

/** Writes into a file that is large enough, which needs no disk space, and gives it its name. */
function useReserved(reserved: string, target: string, value: object): void {
  const file = fs.openSync(reserved, 'r+');
  try {
    const { size } = fs.fstatSync(file);
    fs.writeSync(file, JSON.stringify(value).padEnd(size));
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(reserved, target);
}

function unrecorded(cause: unknown, directory: string, mark: string): ProcessError {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(errnoOf(cause) ?? '');
  const found = isFull
    ? `the disk of ${quoteText(directory)} is full (state folder). Free space there`
    : messageOf(fileSystemError(cause, 'write the record of the run in', directory));
  return new ProcessError('stateUnavailable', `cannot start a run: ${found}`, { cause, mark });
}

function removeEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // It has the output or the plan of a detached run, which stay until detached runs are adopted.
  }
}

function remove(file: string): void {
  try {
    fs.rmSync(file, { recursive: true, force: true });
  } catch {
    // Ignore a directory of that name or a read-only parent directory: nothing depends on the removal.
  }
}

/** False for a link, another kind of file, or anything but the JSON of a record. */
function isUnread(error: unknown): boolean {
  const isKnown = error instanceof ProcessError || error instanceof TrustedFileError;
  const cause = isKnown ? error.cause : error;
  return cause !== undefined && errnoOf(cause) !== 'ELOOP';
}
