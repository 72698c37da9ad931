const FIRST_MS = 20;
const LONGEST_MS = 1000;

/**
 * Says how long to wait before trying again, in milliseconds: anything from 0 to a ceiling that starts
 * at 20 ms and doubles with each attempt up to 1 s. Full jitter, so that clients who wait for the same
 * daemon do not all come back in the same instant.
 *
 * @param attempt counts from 0.
 * @param random a number from 0 to less than 1.
 */
export function backOffMs(attempt: number, random: number): number {
  return random * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
}
