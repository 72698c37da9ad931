import { setLogger } from '@grpc/grpc-js';
import { escapeText } from '@wins/base';

const WINDOW_MS = 1000;
const LINES_OF_WINDOW = 10;
/** The longest line, in UTF-16 units. */
const LONGEST_LINE = 512;

/**
 * Gives what grpc-js logs to a function of ours. By itself it writes to standard error, at once and as long as the log of the
 * program is slow to take it, and repeats octets of its peer as they came: a header with an octet above 0x7f is enough.
 *
 * A line is escaped and cut at 512 characters, so that it steers no terminal. Ten in a second are logged; of the others, their
 * number.
 *
 * The logger of grpc-js is one for all its clients and servers in this process: call it once for a program. The last call
 * counts.
 *
 * @param write - Gets each line, without a line end. It must not throw.
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
