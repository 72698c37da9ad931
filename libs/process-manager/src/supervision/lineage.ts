import { createHash } from 'node:crypto';

/** Daemons that share a state directory are one line: each ends what the one before it left. */
export function lineageOf(stateDirectory: string): string {
  return createHash('sha256').update(stateDirectory).digest('hex').slice(0, 16);
}
