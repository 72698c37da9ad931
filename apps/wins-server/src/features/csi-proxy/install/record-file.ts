import { CsiProxyError } from '../csi-proxy-error.js';
import { StateFile } from '@wins/files';
import { replaceFile, type FileTrust } from '@wins/trusted-files';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { installRecord, NO_RECORD, type InstallRecord } from '../decide/install-record.js';
import { withFile } from './failures.js';

const MAX_BYTES = 256 * 1024;
const FORMAT = 1;

/** Record of the installation. Both functions reject with FeatureError `fileFailed`. */
export interface RecordFile {
  /** Resolves with {@link NO_RECORD} if there is no file; rejects for another format. */
  readonly read: () => Promise<InstallRecord>;
  /** Replaces the record atomically and durably. For an empty record, removes the file, and the folder if it is then empty. */
  readonly write: (record: InstallRecord) => Promise<void>;
}

/** `folder` (an absolute path) must have private permissions; a write creates it if it is missing. */
export function recordFile(folder: string, trust: FileTrust): RecordFile {
  const file = path.join(folder, 'state.json');
  const state = new StateFile<InstallRecord>({
    path: file,
    maxBytes: MAX_BYTES,
    trust,
    parse: (json) => {
      z.object({ format: z.literal(FORMAT) }).parse(json);
      return installRecord.parse(json);
    },
    damaged: (cause) => {
      const message = `cannot read ${file}: it is not a record of an installed csi-proxy. Remove the file to fetch csi-proxy again`;
      throw new CsiProxyError('fileFailed', message, { cause });
    },
    replace: async (location, content) => {
      trust.ensurePrivateFolder(folder);
      await replaceFile(location, content);
    },
  });
  const forget = async (): Promise<void> => {
    await state.remove();
    await rmdir(folder).catch(() => undefined);
  };
  return {
    read: () => withFile('read', file, async () => (await state.read()) ?? NO_RECORD),
    write: (record) =>
      isDeepStrictEqual(record, NO_RECORD)
        ? withFile('remove', file, forget)
        : withFile('write', file, () => state.write({ format: FORMAT, ...record })),
  };
}
