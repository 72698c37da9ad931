import { createHash } from 'node:crypto';

/** The mark is the name of a run in logs. */
export function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
