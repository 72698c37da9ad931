import { createHash } from 'node:crypto';

/**
 * The name of a run for logs, records, firewall rules and the environment of its processes: 32 hexadecimal digits of the
 * SHA-256 of its id. Who knows the id may read and stop the run; it cannot be computed from the mark.
 */
export function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
