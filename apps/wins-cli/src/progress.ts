import { escapeText } from '@wins/base';

/** Terminal for a line of progress. */
export type ProgressTerminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

/** How progress is shown. */
export interface ProgressOptions {
  /** For how long nothing is shown. */
  readonly afterMs: number;
  /** Shows nothing at all. */
  readonly quiet: boolean;
  /** Default: standard error. */
  readonly terminal?: ProgressTerminal;
}

const EVERY_MS = 1000;
/** Back to the first column, and what is there is taken away. */
const CLEAR = '\r\u001b[K';

/**
 * Says what takes long, and for how long it has: one line of a terminal, written again each second until it is disposed, which
 * takes the line away. Elsewhere than on a terminal nothing is written.
 *
 * @param text - What is waited for; foreign text in it is escaped.
 */
export function showProgress(
  text: string,
  { afterMs, quiet, terminal = process.stderr }: ProgressOptions,
): Disposable {
  if (quiet || !terminal.isTTY) return { [Symbol.dispose]: () => undefined };
  const begunMs = performance.now();
  let isShown = false;
  const show = (): void => {
    isShown = true;
    const seconds = Math.round((performance.now() - begunMs) / 1000);
    const line = `wins: ${escapeText(text)} (${seconds} s; Ctrl-C cancels)`;
    // A line that wraps could not be taken away.
    terminal.write(`${CLEAR}${line.slice(0, Math.max(1, (terminal.columns || 80) - 1))}`);
  };
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    show();
    every = setInterval(show, EVERY_MS).unref();
  }, afterMs).unref();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(first);
      clearInterval(every);
      if (isShown) terminal.write(CLEAR);
      isShown = false;
    },
  };
}
