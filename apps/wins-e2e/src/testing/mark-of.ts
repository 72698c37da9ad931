import { createHash } from 'node:crypto';

/** The name of a run in logs, by its id. */
export function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
