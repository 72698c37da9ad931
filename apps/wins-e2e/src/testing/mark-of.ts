import { createHash } from 'node:crypto';

/** Returns the mark of a run: its name in logs. */
export function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 32);
}
