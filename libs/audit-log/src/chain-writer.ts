import { syncFolder } from '@wins/trusted-files';
import { constants } from 'node:fs';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { auditFileName, auditFilePath, auditFiles } from './audit-files.js';
import {
  encodeFacts,
  encodeLine,
  hashOf,
  NO_LINE,
  type AuditFacts,
  type ChainEnd,
} from './audit-record.js';
import { readTail } from './file-tail.js';

/** Where a chain is written. */
export interface ChainWriterOptions {
  readonly directory: string;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly prepareDirectory: (directory: string) => void | Promise<void>;
}

/** What is on the disk, as far as it was flushed. */
interface Flushed {
  readonly number: number;
  readonly sizeBytes: number;
  readonly end: ChainEnd;
}

/**
 * Appends records to the last file of a log, numbered, chained and flushed. It is the only one that writes to the folder, and
 * does one thing at a time: the caller waits for an append before the next.
 */
export class ChainWriter {
  #file: FileHandle | undefined;
  #flushed: Flushed | undefined;
  /** A write failed: what lies behind the flushed bytes is a part of it. */
  #isDirty = false;
  /** What was found and fixed, for the next append to tell. */
  #findings: AuditFacts[] = [];

  readonly #options: ChainWriterOptions;

  constructor(options: ChainWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes and flushes records, all or none.
   *
   * @param records - Each as `encodeFacts` gave it.
   * @throws what Node throws. Nothing of the records counts then; the next call opens the file anew.
   */
  async append(records: readonly string[]): Promise<void> {
    try {
      let flushed = await this.#open();
      const own = this.#findings.map(now);
      let old: readonly number[] = [];
      const { directory, maxFileBytes, maxFiles } = this.#options;
      if (flushed.sizeBytes > 0 && flushed.sizeBytes + lengthOf(records) > maxFileBytes) {
        flushed = await this.#nextFile(flushed);
        old = (await auditFiles(directory)).slice(0, -maxFiles);
        if (old.length > 0) own.push(now({ kind: 'removed', files: old.map(auditFileName) }));
      }
      await this.#write(flushed, [...own, ...records]);
      this.#findings = [];
      // One that someone holds open stays until the next time.
      await Promise.allSettled(old.map((number) => unlink(auditFilePath(directory, number))));
    } catch (error) {
      await this.close().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #write({ number, sizeBytes, end }: Flushed, records: readonly string[]): Promise<void> {
    let { seq, prev } = end;
    const lines = records.map((facts) => {
      seq += 1;
      const line = encodeLine(seq, prev, facts);
      prev = hashOf(line);
      return `${line}\n`;
    });
    const bytes = Buffer.from(lines.join(''));
    const file = this.#file;
    if (file === undefined) throw new Error('the file of the log is closed');
    this.#isDirty = true;
    for (let from = 0; from < bytes.length;) {
      const { bytesWritten } = await file.write(bytes, from, bytes.length - from, sizeBytes + from);
      from += bytesWritten;
    }
    await file.datasync();
    this.#isDirty = false;
    this.#flushed = { number, sizeBytes: sizeBytes + bytes.length, end: { seq, prev } };
  }

  /** The file that is written to, opened and fixed where it must be. */
  async #open(): Promise<Flushed> {
    if (this.#file !== undefined && this.#flushed !== undefined) {
      const { size, nlink } = await this.#file.stat();
      // Else someone has removed or changed it under our hands.
      if (size === this.#flushed.sizeBytes && nlink > 0) return this.#flushed;
      await this.close();
    }
    await this.#options.prepareDirectory(this.#options.directory);
    return (this.#flushed =
      this.#flushed === undefined ? await this.#openFirst() : await this.#openAgain(this.#flushed));
  }

  /** Goes on where another left off: behind the last whole line of the last file that has one. */
  async #openFirst(): Promise<Flushed> {
    const numbers = await auditFiles(this.#options.directory);
    const findings: AuditFacts[] = [];
    let number = numbers.at(-1) ?? 1;
    let sizeBytes = await this.#openFile(number);
    let end: ChainEnd | undefined;
    for (const [steps, earlier] of [...numbers].reverse().entries()) {
      const name = auditFileName(earlier);
      const tail = await this.#tailOf(earlier, steps === 0);
      if (steps === 0 && tail.tornBytes > 0) {
        if (tail.end === undefined && tail.tornBytes < sizeBytes) {
          // No line in all that was looked at: this is none of our files any more, and is left as it is.
          findings.push({ kind: 'repaired', file: name, keptBytes: sizeBytes });
          number += 1;
          sizeBytes = await this.#openFile(number);
          continue;
        }
        findings.push({ kind: 'repaired', file: name, cutBytes: tail.tornBytes });
        sizeBytes -= tail.tornBytes;
        await this.#file?.truncate(sizeBytes);
      }
      if (tail.strangeLines > 0) {
        findings.push({ kind: 'repaired', file: name, strangeLines: tail.strangeLines });
      }
      end = tail.end;
      if (end !== undefined) break;
    }
    this.#findings = findings;
    return { number, sizeBytes, end: end ?? { seq: 0, prev: NO_LINE } };
  }

  /** Goes on where this writer was; the chain is what it remembers, so that a changed file shows. */
  async #openAgain({ number, sizeBytes: wantedBytes, end }: Flushed): Promise<Flushed> {
    const foundBytes = await this.#openFile(number);
    if (foundBytes > wantedBytes && this.#isDirty) {
      await this.#file?.truncate(wantedBytes);
      this.#isDirty = false;
    } else if (foundBytes !== wantedBytes) {
      const file = auditFileName(number);
      this.#findings.push({ kind: 'repaired', file, foundBytes, wantedBytes });
      return this.#nextFile({ number, sizeBytes: foundBytes, end });
    }
    return { number, sizeBytes: wantedBytes, end };
  }

  async #nextFile({ number, end }: Flushed): Promise<Flushed> {
    await this.close();
    const sizeBytes = await this.#openFile(number + 1);
    return (this.#flushed = { number: number + 1, sizeBytes, end });
  }

  /** Opens a file, and makes it when it is not there. @returns Its size. */
  async #openFile(number: number): Promise<number> {
    await this.close();
    const { directory } = this.#options;
    const flags = constants.O_RDWR | constants.O_CREAT;
    this.#file = await open(auditFilePath(directory, number), flags, 0o600);
    const { size } = await this.#file.stat();
    if (size === 0) await syncFolder(directory);
    return size;
  }

  async #tailOf(number: number, isOpen: boolean) {
    if (isOpen && this.#file !== undefined) {
      return readTail(this.#file, (await this.#file.stat()).size);
    }
    const file = await open(auditFilePath(this.#options.directory, number), 'r');
    try {
      return await readTail(file, (await file.stat()).size);
    } finally {
      await file.close();
    }
  }
}

function now(facts: AuditFacts): string {
  return encodeFacts(facts, new Date());
}

/** About as long as they will be, with number and chain. */
function lengthOf(records: readonly string[]): number {
  return records.reduce((sum, record) => sum + Buffer.byteLength(record) + 100, 0);
}
