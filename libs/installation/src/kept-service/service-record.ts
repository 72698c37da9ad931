import { StateFile } from '@wins/files';
import type { FileTrust } from '@wins/trusted-files';
import * as z from 'zod/mini';
import { InstallError } from '../install-error.js';

const MAX_BYTES = 256 * 1024;

const RECORD = z.object({
  format: z.literal(1),
  /** For each version, the digest of the first archive that served. */
  pins: z.readonly(
    z.record(z.string().check(z.maxLength(4096)), z.string().check(z.regex(/^[0-9a-f]{64}$/))),
  ),
});

/** Digest of the first archive of each version that served. */
export type Pins = z.infer<typeof RECORD>['pins'];

export function recordOf(pins: Pins): Buffer {
  return Buffer.from(`${JSON.stringify({ format: 1, pins })}\n`);
}

/** Returns no pins if there is no file. @throws InstallError `unreadable`; TrustedFileError. */
export async function readPins(file: string, subject: string, trust: FileTrust): Promise<Pins> {
  const state = new StateFile<Pins>({
    path: file,
    maxBytes: MAX_BYTES,
    trust,
    parse: (json) => RECORD.parse(json).pins,
    damaged: (cause) => {
      const message = `cannot read ${file}: it is not a record of an installed ${subject}. Remove the file to fetch ${subject} again`;
      throw new InstallError('unreadable', message, { cause });
    },
  });
  return (await state.read()) ?? {};
}
