import { StateFile } from '@wins/files';
import { replaceFile, type FileTrust } from '@wins/trusted-files';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { FeatureError } from '../../../kernel/feature-error.js';
import { installRecord, NO_RECORD, type InstallRecord } from '../decide/install-record.js';
import { withFile } from './failures.js';

const MAX_BYTES = 256 * 1024;
const FORMAT = 1;

/** The file that says what was done to a node, in a private folder. */
export class RecordFile {
  readonly #file: string;
  readonly #state: StateFile<InstallRecord>;

  /** @param folder - Its absolute path; it is made private, or found so, before something is written. */
  constructor(folder: string, trust: FileTrust) {
    const file = path.join(folder, 'state.json');
    this.#file = file;
    this.#state = new StateFile({
      ...{ path: file, maxBytes: MAX_BYTES, trust, parse: recordOf },
      damaged: (cause) => {
        const message = `cannot read ${file}: found no record of what was installed; wanted one; remove the file, and csi-proxy is fetched again`;
        throw new FeatureError('fileFailed', message, { cause });
      },
      replace: async (file, content) => {
        trust.ensurePrivateFolder(folder);
        await replaceFile(file, content);
      },
    });
  }

  /** @returns {@link NO_RECORD} when there is none. @throws FeatureError `fileFailed`: what is no record of ours is not guessed at. */
  read(): Promise<InstallRecord> {
    return withFile('read', this.#file, async () => (await this.#state.read()) ?? NO_RECORD);
  }

  /**
   * Replaces it as one durable act; a record of nothing is removed, with its folder unless something else is in it.
   *
   * @throws FeatureError `fileFailed`; the old one is then untouched.
   */
  write(record: InstallRecord): Promise<void> {
    if (isDeepStrictEqual(record, NO_RECORD)) return this.#forget();
    return withFile('write', this.#file, () => this.#state.write({ format: FORMAT, ...record }));
  }

  #forget(): Promise<void> {
    return withFile('remove', this.#file, async () => {
      await this.#state.remove();
      await rmdir(path.dirname(this.#file)).catch(() => undefined);
    });
  }
}

function recordOf(json: unknown): InstallRecord {
  z.object({ format: z.literal(FORMAT) }).parse(json);
  return installRecord.parse(json);
}
