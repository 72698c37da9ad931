import { escapeText } from '@wins/base';

export type ProgressTerminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

export interface ProgressOptions {
  readonly afterMs: number;
  readonly quiet: boolean;
  /** Default: standard error. */
  readonly terminal?: ProgressTerminal;
}

const EVERY_MS = 1000;
const CLEAR = '\r\u001b[K';

/** Shows the text and the elapsed time until disposal. Writes nothing without a terminal. */
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
    // A line that wraps could not be cleared.
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
