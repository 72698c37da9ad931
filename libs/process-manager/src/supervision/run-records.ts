import { fileSystemError } from '@wins/trusted-files';
import { errnoOf, messageOf, quoteText, type RememberedProcess } from '@wins/base';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';

import { foundIn, ProcessError } from '../process-error.js';

const MAX_RECORD_BYTES = 64 * 1024;
/** Bytes reserved for a process's PID and start token. */
const ROOM_FOR_PROCESS = 256;

export interface RunRecord extends RememberedProcess {
  readonly name: string;
  readonly path: string;
  readonly daemon: string;
}

export interface IgnoredRecord {
  readonly file: string;
  readonly why: string;
  /** True when the file could not be read, and so may be a valid record. */
  readonly isUnread: boolean;
}

export interface RecordsFound {
  readonly records: readonly RunRecord[];
  readonly ignored: readonly IgnoredRecord[];
}

/** Identifies the daemons that share a state directory: 16 hexadecimal digits. */
export function lineageOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 16);
}

/**
 * One small file per living run, in a private directory. All calls are synchronous, so that a run is recorded before
 * any other code runs. Files are not flushed, because no process survives a crash of the machine.
 */
export class RunRecords {
  /** Shared by the successive daemons of this directory. */
  readonly lineage: string;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.lineage = lineageOf(directory);
  }

  /** Reserves disk space, so that a full disk prevents the start instead of ending a run. @throws ProcessError `stateUnavailable`. */
  reserve(record: Omit<RunRecord, 'pid' | 'startToken'>): void {
    const reserved = `${JSON.stringify(record)}${' '.repeat(ROOM_FOR_PROCESS)}`;
    try {
      fs.writeFileSync(this.#reservedFor(record.mark), reserved, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      this.remove(record.mark);
      throw unrecorded(error, this.#directory, record.mark);
    }
  }

  /** Uses the reserved space. @throws ProcessError `stateUnavailable`. */
  write(record: RunRecord): void {
    const { mark } = record;
    try {
      const file = fs.openSync(this.#reservedFor(mark), 'r+');
      try {
        const { size } = fs.fstatSync(file);
        fs.writeSync(file, JSON.stringify(record).padEnd(size));
      } finally {
        fs.closeSync(file);
      }
      fs.renameSync(this.#reservedFor(mark), this.#fileOf(mark));
    } catch (error) {
      throw unrecorded(error, this.#directory, mark);
    }
  }

  /** If the removal fails, the next recovery finds the record stale. */
  remove(mark: string): void {
    remove(this.#fileOf(mark));
    remove(this.#reservedFor(mark));
  }

  /**
   * Removes and reports records that are links, over 64 KiB, or malformed. Reports unreadable records without removing
   * them. Removes reservations of starts that never happened.
   */
  readAll(): RecordsFound {
    const found = this.read();
    for (const { file, isUnread } of found.ignored) if (!isUnread) remove(file);
    for (const name of this.#names())
      if (/^[0-9a-f]{32}\.reserved$/.test(name)) remove(path.join(this.#directory, name));
    return found;
  }

  /** Changes nothing. @throws ProcessError `stateUnavailable`. */
  read(): RecordsFound {
    const records: RunRecord[] = [];
    const ignored: IgnoredRecord[] = [];
    for (const name of this.#names()) {
      const mark = /^([0-9a-f]{32})\.json$/.exec(name)?.[1];
      if (mark === undefined) continue;
      const file = this.#fileOf(mark);
      const found = readRecord(file, mark);
      if ('mark' in found) records.push(found);
      else ignored.push({ file, ...found });
    }
    return { records, ignored };
  }

  #names(): string[] {
    try {
      return fs.readdirSync(this.#directory);
    } catch (error) {
      const message = `cannot read the run records in ${quoteText(this.#directory)}: ${foundIn(error, this.#directory)}`;
      throw new ProcessError('stateUnavailable', message, { cause: error });
    }
  }

  #fileOf(mark: string): string {
    return path.join(this.#directory, `${mark}.json`);
  }

  #reservedFor(mark: string): string {
    return path.join(this.#directory, `${mark}.reserved`);
  }
}

function unrecorded(cause: unknown, directory: string, mark: string): ProcessError {
  const isFull = ['ENOSPC', 'EDQUOT'].includes(errnoOf(cause) ?? '');
  const found = isFull
    ? `the disk of ${quoteText(directory)} is full (state folder). Free space there`
    : messageOf(fileSystemError(cause, 'write the record of the run in', directory));
  return new ProcessError('stateUnavailable', `cannot start a run: ${found}`, { cause, mark });
}

function remove(file: string): void {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // Ignore a directory of that name or a read-only parent directory: nothing depends on the removal.
  }
}

function readRecord(file: string, mark: string): RunRecord | Omit<IgnoredRecord, 'file'> {
  let descriptor: number;
  try {
    // Open without blocking: a named pipe would otherwise block the daemon forever.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // With O_NOFOLLOW a symbolic link fails with ELOOP.
    return {
      why: `cannot be opened: ${foundIn(error, file)}`,
      isUnread: errnoOf(error) !== 'ELOOP',
    };
  }
  try {
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) return malformed('not a regular file');
    if (stats.size > MAX_RECORD_BYTES) return malformed(`larger than ${MAX_RECORD_BYTES} bytes`);
    const record = parseRecord(fs.readFileSync(descriptor, 'utf8'), mark);
    return typeof record === 'string' ? malformed(record) : record;
  } catch (error) {
    if (errnoOf(error) === undefined) return malformed('not JSON');
    return { why: `cannot be read: ${foundIn(error, file)}`, isUnread: true };
  } finally {
    fs.closeSync(descriptor);
  }
}

function malformed(why: string): Omit<IgnoredRecord, 'file'> {
  return { why, isUnread: false };
}

function parseRecord(text: string, mark: string): RunRecord | string {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return 'not an object';
  const fields = new Map<string, unknown>(Object.entries(value));
  const pid = fields.get('pid');
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 2) return 'no valid pid';
  const textOf = (key: string): string => {
    const field = fields.get(key);
    return typeof field === 'string' ? field : '';
  };
  const record = {
    // An earlier release used the id of a run as its mark.
    mark: textOf('mark') || textOf('runId'),
    pid,
    startToken: textOf('startToken'),
    daemon: textOf('daemon'),
    name: textOf('name'),
    path: textOf('path'),
  };
  if (record.mark !== mark) return 'the mark does not match the file name';
  return Object.values(record).includes('') ? 'a field is missing' : record;
}

/**
 * Mark of a run for logs, records, firewall rules and the environment of its processes: 32 hexadecimal digits that do
 * not reveal the run's id.
 */
export function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
