import { createHash } from 'node:crypto';

/** Lower-case hexadecimal SHA-256 of the bytes of a plan: two texts of one meaning are two plans, as they are to Rancher. */
export function planChecksum(text: Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}
