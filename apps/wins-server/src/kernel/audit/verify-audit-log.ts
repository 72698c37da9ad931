import type { FileLine, NumberedFiles } from '@wins/files';
import {
  auditFiles,
  decodeLine,
  MAX_LINE_BYTES,
  NO_LINE,
  type AuditRecord,
} from './audit-record.js';

const MAX_PROBLEMS = 100;

export interface AuditProblem {
  readonly file: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  readonly what: string;
}

export interface AuditVerdict {
  /** True when every line is unchanged and no line is missing, except those that the log itself reports as removed. */
  readonly ok: boolean;
  readonly records: number;
  readonly firstSeq?: number;
  readonly lastSeq?: number;
  /** SHA-256 of the last line. Store it elsewhere to detect later that the log was cut. */
  readonly lastHash?: string;
  readonly lost: number;
  /** Bytes of a last line without a line end, which a crash or an active writer leaves. */
  readonly unfinishedBytes: number;
  /** At most 100. */
  readonly problems: readonly AuditProblem[];
  readonly problemCount: number;
}

/**
 * Verifies that a log is complete and unchanged. The daemon may write to it meanwhile.
 *
 * The chain has no key: it reveals edited, removed or inserted lines unless someone rewrote all later lines too. It reveals missing last lines only
 * if an earlier record count or `lastHash` is known.
 *
 * @param options - `newestBytes`: verifies only the end of the newest file; lines are then numbered from there, and missing earlier lines are not
 * detected. `expect`: SHA-256 (lower-case hex) of a line that must exist.
 * @throws TrustedFileError for a link or an unreadable file; any error of Node for an unreadable folder.
 */
export async function verifyAuditLog(
  directory: string,
  { newestBytes, expect }: { readonly newestBytes?: number; readonly expect?: string } = {},
): Promise<AuditVerdict> {
  const isPart = newestBytes !== undefined;
  const files = auditFiles(directory);
  const numbers = (await files.numbers()).slice(isPart ? -1 : 0);
  const check = new ChainCheck(files, isPart);
  let isExpectedThere = expect === undefined;
  for (const number of numbers) {
    // The oldest files may be missing, because the daemon may remove them meanwhile. Once a line has been read, each later file must exist.
    // A missing one is an error, because the gap in the chain would look like an edit.
    const limits = { maxLineBytes: MAX_LINE_BYTES, lastBytes: newestBytes };
    for await (const lines of files.lines(number, { ...limits, mustExist: !check.isEmpty })) {
      for (const line of lines) {
        check.add(number, line, number === numbers.at(-1));
        isExpectedThere ||= line.sha256 === expect;
      }
    }
  }
  if (!isExpectedThere) check.misses(numbers.at(-1) ?? 1);
  return check.verdict();
}

class ChainCheck {
  #firstNumber: number | undefined;
  #records = 0;
  #firstSeq: number | undefined;
  #lastSeq: number | undefined;
  #hash: string | undefined;
  #lost = 0;
  #unfinishedBytes = 0;
  #removed = 0;
  readonly #problems: AuditProblem[] = [];
  #problemCount = 0;

  readonly #files: NumberedFiles;
  readonly #isPart: boolean;

  constructor(files: NumberedFiles, isPart: boolean) {
    this.#files = files;
    this.#isPart = isPart;
  }

  get isEmpty(): boolean {
    return this.#hash === undefined;
  }

  add(file: number, line: FileLine, isLastFile: boolean): void {
    const { text, sha256, sizeBytes, isEnded } = line;
    if (!isEnded && isLastFile) {
      this.#unfinishedBytes = sizeBytes;
      return;
    }
    const isFirst = this.isEmpty;
    const before = this.#hash;
    this.#firstNumber ??= file;
    this.#hash = sha256;
    const record = text === undefined ? undefined : decodeLine(text);
    const complain = (what: string): void => this.#complain(file, line.number, what);
    if (!isEnded) complain('the line does not end with a line feed');
    if (record === undefined) {
      complain('the line is not a record');
      if (this.#lastSeq !== undefined) this.#lastSeq += 1;
      return;
    }
    this.#records += 1;
    this.#firstSeq ??= record.seq;
    const wantedSeq = isFirst ? this.#beginning(record.seq, 1) : (this.#lastSeq ?? 0) + 1;
    if (record.seq !== wantedSeq) complain(`the number is ${record.seq}; wanted ${wantedSeq}`);
    if (record.prev !== (before ?? this.#beginning(record.prev, NO_LINE)))
      complain('it does not follow the previous line, which was edited or removed');
    this.#lastSeq = record.seq;
    this.#look(record);
  }

  misses(file: number): void {
    this.#complain(file, 0, 'no line has the expected digest: the log was cut or replaced');
  }

  verdict(): AuditVerdict {
    const first = this.#firstNumber ?? 1;
    if (!this.#isPart && first > this.#removed + 1)
      this.#complain(first, 0, 'the earlier files are missing, and no record says why');
    return {
      ok: this.#problemCount === 0,
      records: this.#records,
      ...(this.#firstSeq !== undefined && { firstSeq: this.#firstSeq }),
      ...(this.#lastSeq !== undefined && { lastSeq: this.#lastSeq }),
      ...(this.#hash !== undefined && { lastHash: this.#hash }),
      lost: this.#lost,
      unfinishedBytes: this.#unfinishedBytes,
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
  }

  /**
   * Returns the value that the first line must have. This is `wanted` for the first line of the whole log. If earlier lines were removed or not
   * read, it is `found`, because then any value is valid.
   */
  #beginning<T>(found: T, wanted: T): T {
    return this.#firstNumber === 1 && !this.#isPart ? wanted : found;
  }

  #look({ kind, lost, files }: AuditRecord): void {
    if ((kind === 'lost' || kind === 'resumed') && typeof lost === 'number') this.#lost += lost;
    if (kind !== 'removed' || !Array.isArray(files)) return;
    const last = /\d+/.exec(String(files.at(-1)))?.[0];
    this.#removed = Math.max(this.#removed, Number(last ?? 0));
  }

  #complain(number: number, line: number, what: string): void {
    this.#problemCount += 1;
    const file = this.#files.nameOf(number);
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ file, line, what });
  }
}

/**
 * Yields the records of a log, some at a time, oldest first, and skips invalid lines. The daemon may write to it meanwhile.
 * @throws TrustedFileError for a link or an unreadable file; any error of Node for an unreadable folder.
 */
export async function* readAuditLog(directory: string): AsyncGenerator<readonly AuditRecord[]> {
  const files = auditFiles(directory);
  for (const number of await files.numbers()) {
    for await (const lines of files.lines(number, { maxLineBytes: MAX_LINE_BYTES }))
      yield lines
        .map(({ text }) => (text === undefined ? undefined : decodeLine(text)))
        .filter((record) => record !== undefined);
  }
}
