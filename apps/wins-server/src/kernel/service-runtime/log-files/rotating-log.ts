import { open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Where a rotating log lies and how large it may become. */
export interface RotatingLogOptions {
  /** An existing folder. */
  readonly folder: string;
  /** The files are `<name>.<number>.log`; the highest number is written to. */
  readonly name: string;
  /** A file that would become larger is followed by the next. */
  readonly maxFileBytes: number;
  /** The oldest files beyond this number are deleted. */
  readonly maxFiles: number;
  /** Called once when lines can no longer be written, and again only after one could. */
  readonly onProblem?: (error: unknown) => void;
}

/** A log of bounded size that never makes its writer wait. */
export interface RotatingLog {
  /** Takes a line with its end. It is dropped when the disk does not take it, or is 4 Mi characters behind. */
  write(line: string): void;
  /** Writes what was taken, and closes the file. Idempotent; later lines are dropped. */
  close(): Promise<void>;
}

const LONGEST_BACKLOG = 4 * 1024 * 1024;
const LONGEST_WRITE = 64 * 1024;
/** After a failure lines are dropped for so long before the disk is asked again. */
const RETRY_AFTER_MS = 1000;

/** Opens a log; no file is made before the first line. */
export function openRotatingLog(options: RotatingLogOptions): RotatingLog {
  const files = new NumberedFiles(options);
  const longestWrite = Math.min(LONGEST_WRITE, options.maxFileBytes);
  const waiting: string[] = [];
  let waitingLength = 0;
  let dropped = 0;
  let isBroken = false;
  let retryAtMs = 0;
  let writing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const { text, count } = takeSome(waiting, longestWrite);
      waitingLength -= text.length;
      if (performance.now() < retryAtMs) {
        dropped += count;
        continue;
      }
      const lost = dropped;
      try {
        await files.append(lost === 0 ? text : `${droppedLine(lost)}${text}`);
        dropped -= lost;
        isBroken = false;
      } catch (error) {
        dropped += count;
        retryAtMs = performance.now() + RETRY_AFTER_MS;
        if (!isBroken) options.onProblem?.(error);
        isBroken = true;
      }
    }
    writing = undefined;
  };

  return {
    write: (line) => {
      if (closing !== undefined || waitingLength + line.length > LONGEST_BACKLOG) {
        dropped += 1;
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
      writing ??= Promise.resolve().then(writeAll);
    },
    close: () => (closing ??= (writing ?? Promise.resolve()).then(() => files.close())),
  };
}

/** Takes lines from the front: as many as make one write, one at least. */
function takeSome(
  waiting: string[],
  longest: number,
): { readonly text: string; readonly count: number } {
  let length = 0;
  let count = 0;
  for (const line of waiting) {
    if (count > 0 && length + line.length > longest) break;
    length += line.length;
    count += 1;
  }
  return { text: waiting.splice(0, count).join(''), count };
}

function droppedLine(lines: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ level: 'warn', time, lines, msg: 'log lines were dropped' })}\n`;
}

/** The files of a log, of which the last one is open. */
class NumberedFiles {
  readonly #folder: string;
  readonly #name: string;
  readonly #maxFileBytes: number;
  readonly #maxFiles: number;
  #last: { readonly file: FileHandle; readonly number: number; sizeBytes: number } | undefined;

  constructor({ folder, name, maxFileBytes, maxFiles }: RotatingLogOptions) {
    this.#folder = folder;
    this.#name = name;
    this.#maxFileBytes = maxFileBytes;
    this.#maxFiles = maxFiles;
  }

  /** Appends text; after a failure the file is opened anew at the next one. */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    try {
      let last = (this.#last ??= await this.#open((await this.#numbers()).at(-1) ?? 1));
      if (last.sizeBytes > 0 && last.sizeBytes + bytes.length > this.#maxFileBytes) {
        await last.file.close();
        last = this.#last = await this.#open(last.number + 1);
        await this.#deleteOld();
      }
      await last.file.appendFile(bytes);
      last.sizeBytes += bytes.length;
    } catch (error) {
      await this.close().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    await last?.file.close();
  }

  async #open(number: number) {
    const file = await open(this.#pathOf(number), 'a+');
    try {
      let { size: sizeBytes } = await file.stat();
      const end = Buffer.alloc(1);
      if (sizeBytes > 0) await file.read(end, 0, 1, sizeBytes - 1);
      // A full disk or a power cut ends a line anywhere; the next one begins on its own.
      if (sizeBytes > 0 && end[0] !== 0x0a) {
        await file.appendFile('\n');
        sizeBytes += 1;
      }
      return { file, number, sizeBytes };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Deletes the oldest files. One that is open elsewhere stays until the next time. */
  async #deleteOld(): Promise<void> {
    const old = (await this.#numbers()).slice(0, -this.#maxFiles);
    await Promise.allSettled(old.map((number) => unlink(this.#pathOf(number))));
  }

  /** The numbers of the files that are there, in order. */
  async #numbers(): Promise<readonly number[]> {
    const names = await readdir(this.#folder);
    return names
      .filter((name) => name.startsWith(`${this.#name}.`))
      .map((name) => /^\.(\d{6,9})\.log$/.exec(name.slice(this.#name.length))?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => a - b);
  }

  #pathOf(number: number): string {
    return path.join(this.#folder, `${this.#name}.${String(number).padStart(6, '0')}.log`);
  }
}
