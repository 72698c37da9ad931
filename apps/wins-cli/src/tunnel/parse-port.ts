import { UsageError } from '@wins/base';

const HIGHEST_PORT = 65535;

/**
 * Reads a port of a list option: 1 to 65535, in digits alone.
 *
 * @param entry - The entry of the list that it stands in, for the error.
 * @throws UsageError that names the entry and what was found.
 */
export function parsePort(text: string, entry: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > HIGHEST_PORT) {
    throw new UsageError(
      `"${entry}": "${text}" is not a port; wanted a number from 1 to ${HIGHEST_PORT}`,
    );
  }
  return port;
}
