import { StateFile } from '@wins/files';
import type { FileTrust } from '@wins/trusted-files';
import * as z from 'zod';
import { CsiProxyError } from './csi-proxy-error.js';

const MAX_BYTES = 256 * 1024;
const text = z.string().max(4096);

const RECORD = z
  .object({
    format: z.literal(1),
    /** For each version, the digest of the first archive that served. */
    pins: z.record(text, z.string().regex(/^[0-9a-f]{64}$/)).readonly(),
    /** Present if a release of wins without a manifest wrote the record. */
    releases: z
      .array(z.object({ program: text }).readonly())
      .max(256)
      .readonly()
      .exactOptional(),
  })
  .readonly();

export type CsiProxyRecord = Omit<z.infer<typeof RECORD>, 'format'>;

/** Returns an empty record if there is no file. @throws CsiProxyError `fileFailed`, TrustedFileError. */
export async function readRecord(file: string, trust: FileTrust): Promise<CsiProxyRecord> {
  const state = new StateFile<CsiProxyRecord>({
    path: file,
    maxBytes: MAX_BYTES,
    trust,
    parse: (json) => RECORD.parse(json),
    damaged: (cause) => {
      const message = `cannot read ${file}: it is not a record of an installed csi-proxy. Remove the file to fetch csi-proxy again`;
      throw new CsiProxyError('fileFailed', message, { cause });
    },
  });
  return (await state.read()) ?? { pins: {} };
}
