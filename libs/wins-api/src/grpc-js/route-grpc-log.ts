import { setLogger } from '@grpc/grpc-js';
import { escapeText } from '@wins/base';

const WINDOW_MS = 1000;
const LINES_OF_WINDOW = 10;
/** Maximum length of a line, in UTF-16 units. */
const LONGEST_LINE = 512;

/**
 * Redirects the log of grpc-js. All clients and servers of this process share the log: call this once. By default
 * grpc-js writes to standard error synchronously, which blocks while the reader is slow. It also logs bytes from the
 * peer unescaped, for example a header that has a byte above 0x7f.
 *
 * @param write Receives each line, escaped, cut at 512 characters, and without a line break. It receives at most ten
 * lines a second. Further lines are dropped, and one extra line gives their number. Must not throw.
 */
export function routeGrpcLog(write: (line: string) => void): void {
  let told = 0;
  let leftOut = 0;
  const endWindow = (): void => {
    const count = leftOut;
    told = 0;
    leftOut = 0;
    if (count > 0) write(`${count} more lines of gRPC were omitted`);
  };
  const tell = (...parts: readonly unknown[]): void => {
    if (told >= LINES_OF_WINDOW) {
      leftOut += 1;
      return;
    }
    if (told === 0) setTimeout(endWindow, WINDOW_MS).unref();
    told += 1;
    write(escapeText(parts.map(String).join(' '), { maxLength: LONGEST_LINE }));
  };
  setLogger({ error: tell, info: tell, debug: tell });
}
