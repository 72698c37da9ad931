import { NumberedFiles, RollingFile } from '@wins/files';

export interface RotatingLogOptions {
  readonly folder: string;
  /** Files are named `<name>.<number>.log`; the highest number is current. */
  readonly name: string;
  /** Maximum file size; the next file is started before a file would exceed it. */
  readonly maxFileBytes: number;
  /** The oldest files beyond this number are deleted. */
  readonly maxFiles: number;
  /** Called when a write fails, unless the previous write failed too. */
  readonly onProblem?: (error: unknown) => void;
}

export interface RotatingLog {
  /** Takes a line with its line end. The line is dropped when the disk refuses it, or when 4 Mi characters are queued. */
  write(line: string): void;
  /** Writes the queued lines. Idempotent; later lines are dropped. */
  close(): Promise<void>;
}

const LONGEST_BACKLOG = 4 * 1024 * 1024;
const LONGEST_WRITE = 64 * 1024;
/** After a failure, lines are dropped for this long. */
const RETRY_AFTER_MS = 1000;

/** The first line creates the file. */
export function openRotatingLog(options: RotatingLogOptions): RotatingLog {
  const { folder, name: prefix } = options;
  const files = new NumberedFiles({ folder, prefix, suffix: 'log', digits: 6 });
  const file = new RollingFile(files);
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
        await append(files, file, options, lost === 0 ? text : `${droppedLine(lost)}${text}`);
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
    close: () => (closing ??= (writing ?? Promise.resolve()).then(() => file.close())),
  };
}

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

async function append(
  files: NumberedFiles,
  file: RollingFile,
  { maxFileBytes, maxFiles }: RotatingLogOptions,
  text: string,
): Promise<void> {
  const bytes = Buffer.from(text);
  if (!file.isIntact()) await openLast(files, file);
  if (file.sizeBytes > 0 && file.sizeBytes + bytes.length > maxFileBytes) {
    await file.open(file.number + 1);
    await files.remove((await files.numbers()).slice(0, -maxFiles));
  }
  await file.append(bytes);
}

async function openLast(files: NumberedFiles, file: RollingFile): Promise<void> {
  await file.open((await files.numbers()).at(-1) ?? 1);
  // An incomplete line may be the last output before a crash, so it stays.
  if (file.hasHalfLine) await file.append(Buffer.from('\n'));
}
