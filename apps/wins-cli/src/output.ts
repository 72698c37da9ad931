import { escapeJson, escapeText } from '@wins/wins-program';

/**
 * JSON as Go's encoding/json writes it: `<`, `>` and `&` and the two line separators of JavaScript
 * are escaped.
 */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Rows under headings, columns padded with two blanks between them. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [headings, ...rows].map((row) => row.map((cell) => escapeText(cell)));
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** The same for a terminal: a line in which what JSON leaves alone and a terminal obeys is escaped, too. */
export function terminalJson(value: unknown): string {
  return `${escapeJson(goJson(value))}\n`;
}

/** Writes an answer for programs, byte for byte as the Go client did, or for a terminal. */
export async function writeJson(value: unknown): Promise<void> {
  await writeAll(
    process.stdout,
    Buffer.from(process.stdout.isTTY ? terminalJson(value) : goJson(value)),
  );
}

/** Writes and waits while the reader is slow; false when the reader has gone. */
export async function writeAll(stream: NodeJS.WriteStream, bytes: Buffer): Promise<boolean> {
  if (stream.destroyed || stream.errored) return false;
  if (stream.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
  return !stream.destroyed;
}
