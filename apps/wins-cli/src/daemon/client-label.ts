import { hostname } from 'node:os';

/** The longest that leaves room for the id of the process beside it. */
const MOST_CHARACTERS = 100;

/** Label of this client in the daemon's audit log: the name of its host, in characters that a header may have. */
export function clientLabel(name: string = hostname()): string {
  return name.replace(/[^\x21-\x7e]/g, '?').slice(0, MOST_CHARACTERS) || 'unknown';
}

/** The label with the id of this process, which a daemon writes beside what a call does. */
export function clientName(): string {
  return `${clientLabel()}/${process.pid}`;
}
