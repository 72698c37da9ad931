/** The longest time a Node timer can wait; it fires at once when asked for more. */
const LARGEST = 2 ** 31 - 1;

/**
 * Lets an option's value pass when it is a whole number from `least` to 2^31 - 1.
 *
 * @throws RangeError otherwise: a mistake of the calling program, not of its user.
 */
export function wholeNumber(option: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least && value <= LARGEST) return value;
  throw new RangeError(`${option} is ${value}, wanted a whole number from ${least} to ${LARGEST}`);
}
