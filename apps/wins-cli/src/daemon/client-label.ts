import { hostname } from 'node:os';

/** Maximum length that still leaves space for the process id. */
const MOST_CHARACTERS = 100;

/** Host name for the daemon's audit log, with only the characters that are valid in a header. */
export function clientLabel(name: string = hostname()): string {
  return name.replace(/[^\x21-\x7e]/g, '?').slice(0, MOST_CHARACTERS) || 'unknown';
}

export function clientName(): string {
  return `${clientLabel()}/${process.pid}`;
}
