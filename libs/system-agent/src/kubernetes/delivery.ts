import { reporter } from '@wins/base';

/**
 * Returns a function that delivers what was followed. An exception of `callback` reaches the follower, which connects anew and delivers again. A rejected
 * promise is a warning, as of a report.
 */
export function delivery<Given extends readonly unknown[]>(
  callback: (...given: Given) => unknown,
): (...given: Given) => void {
  return (...given) => {
    const answer = callback(...given);
    reporter(() => answer)();
  };
}
