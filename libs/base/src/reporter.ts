import { inspect } from 'node:util';
import { escapeText } from './text/escape-text.js';

/**
 * Returns a function that calls `callback`, which only reports something to its owner. The function never throws and waits for nothing: a report that
 * fails must neither change what it reports nor end the process.
 *
 * An error that the callback throws, or with which its promise rejects, becomes a warning of the process: an event `warning` with the code
 * `WINS_CALLBACK_FAILED`, which Node writes to stderr by default.
 *
 * @param callback - Default: the function does nothing.
 */
export function reporter<Report extends readonly unknown[]>(
  callback: ((...report: Report) => unknown) | undefined,
): (...report: Report) => void {
  if (callback === undefined) return () => undefined;
  return (...report) => {
    try {
      const answer = callback(...report);
      // Most callbacks return undefined, for which a promise would be a waste.
      if (typeof answer === 'object' && answer !== null) Promise.resolve(answer).catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}

function warn(error: unknown): void {
  process.emitWarning('a callback failed', {
    code: 'WINS_CALLBACK_FAILED',
    detail: described(error)
      .split('\n')
      .map((line) => escapeText(line))
      .join('\n'),
  });
}

function described(error: unknown): string {
  try {
    return inspect(error);
  } catch {
    return 'its error cannot be shown';
  }
}
