import { openTrustedFile, readWhole, replaceFile, TrustedFileError } from '@wins/trusted-files';
import type { FileTrust } from '@wins/trusted-files';
import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { CsiProxyError } from '../csi-proxy-error.js';
import { NO_RECORD, type InstallRecord } from '../decide/install-record.js';
import { withFile } from './file-failure.js';

const MAX_BYTES = 256 * 1024;
const FORMAT = 1;

const text = z.string().max(4096);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const command = z.object({ program: text, args: z.array(text).max(128) });
const recordSchema = z.object({
  format: z.literal(FORMAT),
  pins: z.record(text, digest),
  releases: z
    .array(z.object({ version: text, archiveSha256: digest, programSha256: digest, program: text }))
    .max(256),
  installed: command.exactOptional(),
  trial: z.object({ to: command, from: command.exactOptional() }).exactOptional(),
  obsolete: z.object({ path: text, sha256: digest }).exactOptional(),
});

/** The file that says what was done to a node, in a private folder. */
export class RecordFile {
  readonly #file: string;
  readonly #trust: FileTrust;

  /** @param file - Its absolute path. */
  constructor(file: string, trust: FileTrust) {
    this.#file = file;
    this.#trust = trust;
  }

  /** @returns {@link NO_RECORD} when there is none. @throws CsiProxyError `fileFailed`: what is no record of ours is not guessed at. */
  read(): Promise<InstallRecord> {
    return withFile('read', this.#file, async () => {
      let bytes: Buffer;
      try {
        const file = await openTrustedFile(this.#file, this.#trust);
        try {
          bytes = await readWhole(file, { maxBytes: MAX_BYTES });
        } finally {
          await file.handle.close();
        }
      } catch (error) {
        if (error instanceof TrustedFileError && error.code === 'notFound') return NO_RECORD;
        throw error;
      }
      const { format: _format, ...record } = this.#parsed(bytes.toString('utf8'));
      return record;
    });
  }

  /**
   * Replaces it as one durable act; a record of nothing is removed, with its folder unless something else is in it.
   *
   * @throws CsiProxyError `fileFailed`; the old one is then untouched.
   */
  write(record: InstallRecord): Promise<void> {
    if (isDeepStrictEqual(record, NO_RECORD)) return this.#forget();
    const content = `${JSON.stringify({ format: FORMAT, ...record }, undefined, 2)}\n`;
    return withFile('write', this.#file, () => replaceFile(this.#file, content));
  }

  #forget(): Promise<void> {
    return withFile('remove', this.#file, async () => {
      await rm(this.#file, { force: true });
      await rmdir(path.dirname(this.#file)).catch(() => undefined);
    });
  }

  #parsed(content: string): z.infer<typeof recordSchema> {
    let value: unknown;
    try {
      value = JSON.parse(content);
    } catch {
      value = undefined;
    }
    const parsed = recordSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    const message = `cannot read ${this.#file}: found no record of what was installed; wanted one; remove the file, and csi-proxy is fetched again`;
    throw new CsiProxyError('fileFailed', message, { cause: parsed.error });
  }
}
