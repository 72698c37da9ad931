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

/** Limits of the search for the last valid line. It covers four lines of maximum length, because some may be damaged. */
const TAIL = { maxLineBytes: MAX_LINE_BYTES, lastBytes: 4 * (MAX_LINE_BYTES + 1), mustExist: true };

interface ChainTail {
  /** The record after which the chain continues; undefined if no line is complete. */
  readonly end: ChainEnd | undefined;
  /** Number of lines at the end that are not records. */
  readonly strangeLines: number;
  /** Length of an unfinished last line, left by a crash. */
  readonly tornBytes: number;
}

export interface ChainWriterOptions {
  /** Absolute path of a folder that only this log uses. */
  readonly directory: string;
  /** Maximum file size; the next file is started before a file would exceed it. */
  readonly maxFileBytes: number;
  /** Beyond this number, the oldest file is removed; a record says so. */
  readonly maxFiles: number;
  /** Creates the folder, or throws for an unsafe one. */
  readonly prepareDirectory: (directory: string) => void | Promise<void>;
}

/** Must be the only writer of its folder, with one append at a time. */
export class ChainWriter {
  readonly #options: ChainWriterOptions;
  readonly #files: NumberedFiles;
  readonly #file: RollingFile;
  /** Last flushed line; undefined before the first opening. */
  #end: ChainEnd | undefined;
  /** Facts about damaged or repaired files, found when they were opened. The next successful `append` writes them to the log. */
  #findings: AuditFacts[] = [];

  constructor(options: ChainWriterOptions) {
    this.#options = options;
    this.#files = auditFiles(options.directory);
    this.#file = new RollingFile(this.#files, { isDurable: true });
  }

  /** Writes and flushes all records or none. @throws any error of Node; the next call then reopens the file. */
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

  /** Repairs the file if necessary. Returns the end of the chain. */
  async #open(): Promise<ChainEnd> {
    // Another program may have removed or changed the file.
    if (this.#end !== undefined && this.#file.isIntact()) return this.#end;
    await this.#options.prepareDirectory(this.#options.directory);
    if (this.#end === undefined) this.#end = await this.#openFirst();
    else await this.#openAgain();
    return this.#end;
  }

  /** Continues the chain of an earlier writer after its last complete line. */
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
          // The examined part has room for four lines of maximum length, and holds no complete line. This log cannot have written it.
          // Leave the file as it is, and append to a new file. The `repaired` record says that all bytes were kept.
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
    for await (const lines of this.#files.lines(number, TAIL)) {
      for (const { isEnded, sizeBytes, text, sha256 } of lines) {
        if (!isEnded) return { end, strangeLines, tornBytes: sizeBytes };
        const record = text === undefined ? undefined : decodeLine(text);
        strangeLines = record === undefined ? strangeLines + 1 : 0;
        end = { seq: record?.seq ?? (end?.seq ?? 0) + 1, prev: sha256 };
      }
    }
    return { end, strangeLines, tornBytes: 0 };
  }

  /** Continues the chain from memory, not from the disk, so that a changed file is detected. */
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

function lengthOf(records: readonly string[]): number {
  return records.reduce((sum, record) => sum + Buffer.byteLength(record) + 100, 0);
}
