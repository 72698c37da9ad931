import { createHash } from 'node:crypto';

/** Identifies the daemons that share a state directory: 16 hexadecimal digits. */
export function lineageOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, 16);
}

/**
 * Mark of a run for logs, records, firewall rules and the environment of its processes: 32 hexadecimal digits that do
 * not reveal the run's id.
 */
export function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
