import { RollingFile, type NumberedFiles } from '@wins/files';
import {
  auditFiles,
  decodeLine,
  encodeFacts,
  encodeLine,
  hashOf,
  MAX_LINE_BYTES,
  NO_LINE,
  type AuditFacts,
  type ChainEnd,
} from './audit-record.js';

/** Part of a file's end that is searched for the last good line: four of the longest lines, because some may be broken. */
const TAIL = { maxLineBytes: MAX_LINE_BYTES, lastBytes: 4 * (MAX_LINE_BYTES + 1), mustExist: true };

/** How a file ends, as far as its last 256 KiB say. */
interface ChainTail {
  /** End that the next line follows; undefined when no whole line was seen. */
  readonly end: ChainEnd | undefined;
  /** Lines at the end that are no records. */
  readonly strangeLines: number;
  /** Bytes behind the last line end: what a crash left of a line. */
  readonly tornBytes: number;
}

/** Where a chain is written. */
export interface ChainWriterOptions {
  /** Absolute path of a folder that is this log's alone. One log at a time may be open there. */
  readonly directory: string;
  /** A file that would become larger is followed by the next. */
  readonly maxFileBytes: number;
  /** Beyond so many files the oldest is removed, and a record says so. */
  readonly maxFiles: number;
  /** Makes the folder, or refuses it. */
  readonly prepareDirectory: (directory: string) => void | Promise<void>;
}

/**
 * Appends records to the last file of a log, numbered, chained and flushed. It is the only writer of the folder, and
 * does one thing at a time: the caller waits for an append before the next.
 */
export class ChainWriter {
  readonly #options: ChainWriterOptions;
  readonly #files: NumberedFiles;
  readonly #file: RollingFile;
  /** The last line that was flushed; undefined before the first opening. */
  #end: ChainEnd | undefined;
  /** Problems that were found and fixed; the next append records them. */
  #findings: AuditFacts[] = [];

  constructor(options: ChainWriterOptions) {
    this.#options = options;
    this.#files = auditFiles(options.directory);
    this.#file = new RollingFile(this.#files, { isDurable: true });
  }

  /**
   * Writes and flushes records, all or none.
   *
   * @param records - Each as `encodeFacts` gave it.
   * @throws what Node throws. Nothing of the records counts then; the next call opens the file anew.
   */
  async append(records: readonly string[]): Promise<void> {
    try {
      const end = await this.#open();
      const own = this.#findings.map(now);
      let old: readonly number[] = [];
      const { maxFileBytes, maxFiles } = this.#options;
      const { sizeBytes } = this.#file;
      if (sizeBytes > 0 && sizeBytes + lengthOf(records) > maxFileBytes) {
        await this.#file.open(this.#file.number + 1);
        old = (await this.#files.numbers()).slice(0, -maxFiles);
        const names = old.map((number) => this.#files.nameOf(number));
        if (old.length > 0) own.push(now({ kind: 'removed', files: names }));
      }
      await this.#write(end, [...own, ...records]);
      this.#findings = [];
      await this.#files.remove(old);
    } catch (error) {
      await this.close().catch(() => undefined);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #write(end: ChainEnd, records: readonly string[]): Promise<void> {
    let { seq, prev } = end;
    const lines = records.map((facts) => {
      seq += 1;
      const line = encodeLine(seq, prev, facts);
      prev = hashOf(line);
      return `${line}\n`;
    });
    await this.#file.append(Buffer.from(lines.join('')));
    this.#end = { seq, prev };
  }

  /** Opens the file that is written to, unless it is open, and fixes it where it must be. @returns What the next line follows. */
  async #open(): Promise<ChainEnd> {
    // Else someone has removed or changed it under our hands.
    if (this.#end !== undefined && this.#file.isIntact()) return this.#end;
    await this.#options.prepareDirectory(this.#options.directory);
    if (this.#end === undefined) this.#end = await this.#openFirst();
    else await this.#openAgain();
    return this.#end;
  }

  /** Goes on where another left off: behind the last whole line of the last file that has one. */
  async #openFirst(): Promise<ChainEnd> {
    const numbers = [...(await this.#files.numbers())].reverse();
    const findings: AuditFacts[] = [];
    let end: ChainEnd | undefined;
    let sizeBytes = await this.#file.open(numbers[0] ?? 1);
    for (const [steps, number] of numbers.entries()) {
      const file = this.#files.nameOf(number);
      const { strangeLines, tornBytes, ...tail } = await this.#tailOf(number);
      if (steps === 0 && this.#file.hasHalfLine) {
        if (tail.end === undefined && tornBytes < sizeBytes) {
          // No line in all that was looked at: this is none of our files any more, and is left as it is.
          findings.push({ kind: 'repaired', file, keptBytes: sizeBytes });
          await this.#file.open(number + 1);
          continue;
        }
        findings.push({ kind: 'repaired', file, cutBytes: tornBytes });
        sizeBytes = await this.#file.open(number, sizeBytes - tornBytes);
      }
      if (strangeLines > 0) findings.push({ kind: 'repaired', file, strangeLines });
      end = tail.end;
      if (end !== undefined) break;
    }
    this.#findings = findings;
    return end ?? { seq: 0, prev: NO_LINE };
  }

  async #tailOf(number: number): Promise<ChainTail> {
    let end: ChainEnd | undefined;
    let strangeLines = 0;
    for await (const { isEnded, sizeBytes, text, sha256 } of this.#files.lines(number, TAIL)) {
      if (!isEnded) return { end, strangeLines, tornBytes: sizeBytes };
      const record = text === undefined ? undefined : decodeLine(text);
      strangeLines = record === undefined ? strangeLines + 1 : 0;
      end = { seq: record?.seq ?? (end?.seq ?? 0) + 1, prev: sha256 };
    }
    return { end, strangeLines, tornBytes: 0 };
  }

  /** Goes on where this writer was; the chain is what it remembers, so that a changed file shows. */
  async #openAgain(): Promise<void> {
    const { number, sizeBytes: wantedBytes } = this.#file;
    const foundBytes = await this.#file.open(number);
    if (foundBytes === wantedBytes) return;
    const file = this.#files.nameOf(number);
    this.#findings.push({ kind: 'repaired', file, foundBytes, wantedBytes });
    await this.#file.open(number + 1);
  }
}

function now(facts: AuditFacts): string {
  return encodeFacts(facts, new Date());
}

/** About as long as they will be, with number and chain. */
function lengthOf(records: readonly string[]): number {
  return records.reduce((sum, record) => sum + Buffer.byteLength(record) + 100, 0);
}
