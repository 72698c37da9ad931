import { UsageError } from '@wins/base';

const HIGHEST_PORT = 65535;

/** Accepts digits only. @throws UsageError that names the entry and the invalid port. */
export function parsePort(text: string, entry: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > HIGHEST_PORT)
    throw new UsageError(
      `"${entry}": "${text}" is not a port; wanted a number from 1 to ${HIGHEST_PORT}`,
    );
  return port;
}
