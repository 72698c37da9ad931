import { errnoOf, messageOf, quoteText } from '@wins/base';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { PlanFiles } from '../ports.js';

/** So many outputs are kept, and so many bytes of them; the oldest go first. */
export const MAX_OUTPUT_FILES = 256;
export const MAX_OUTPUTS_BYTES = 128 * 1024 * 1024;
/** So much of one execution is kept, and waits in memory at most while the disk is slow. */
export const MAX_OUTPUT_FILE_BYTES = 16 * 1024 * 1024;

interface KeptFile {
  readonly name: string;
  readonly sizeBytes: number;
}

/** Whole outputs of executions, both streams as they came, in a private folder: bounded in number and size. */
export class OutputFiles {
  readonly #folder: string;
  readonly #files: PlanFiles;
  #kept: KeptFile[] | undefined;

  constructor(folder: string, files: PlanFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  /**
   * A file whose name begins so.
   *
   * @throws AgentError `fileFailed`, when the folder cannot be had.
   */
  async open(beginning: string): Promise<OutputFile> {
    await this.#files.ensurePrivateFolder(this.#folder);
    this.#kept ??= await this.#find();
    // Two executions of one second may be of the same plan.
    const name = `${beginning}-${randomBytes(4).toString('hex')}.out`;
    return new OutputFile(path.join(this.#folder, name), async (sizeBytes) => {
      if (sizeBytes > 0) this.#kept?.push({ name, sizeBytes });
      await this.#removeOldest();
    });
  }

  async #find(): Promise<KeptFile[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.out')).sort();
    const sizeOf = async (name: string): Promise<KeptFile> => {
      const stats = await stat(path.join(this.#folder, name)).catch(() => undefined);
      return { name, sizeBytes: stats?.size ?? 0 };
    };
    return Promise.all(names.map(sizeOf));
  }

  async #removeOldest(): Promise<void> {
    const kept = this.#kept ?? [];
    let sizeBytes = kept.reduce((sum, file) => sum + file.sizeBytes, 0);
    while (kept.length > MAX_OUTPUT_FILES || sizeBytes > MAX_OUTPUTS_BYTES) {
      const oldest = kept.shift();
      if (oldest === undefined) return;
      sizeBytes -= oldest.sizeBytes;
      // What cannot be removed now is found again when the agent starts next.
      await unlink(path.join(this.#folder, oldest.name)).catch(() => undefined);
    }
  }
}

/** Takes all that one execution writes; a file is made at its first byte. */
export class OutputFile {
  readonly #path: string;
  readonly #onClosed: (sizeBytes: number) => Promise<void>;
  #stream: WriteStream | undefined;
  #failure: Error | undefined;
  #leftOutBytes = 0;
  #sizeBytes = 0;

  constructor(path: string, onClosed: (sizeBytes: number) => Promise<void>) {
    this.#path = path;
    this.#onClosed = onClosed;
  }

  /** Never waits. */
  add(bytes: Buffer): void {
    const kept = bytes.subarray(0, MAX_OUTPUT_FILE_BYTES - this.#sizeBytes);
    this.#leftOutBytes += bytes.length - kept.length;
    if (kept.length === 0 || this.#failure !== undefined) return;
    this.#stream ??= this.#open();
    this.#stream.write(kept);
    this.#sizeBytes += kept.length;
  }

  /** Resolves when all is on its way to the disk, with the first failure. Once. */
  async close(): Promise<Error | undefined> {
    const stream = this.#stream;
    if (this.#leftOutBytes > 0)
      stream?.write(`\n[wins: ${this.#leftOutBytes} more bytes follow]\n`);
    if (stream?.closed === false) {
      stream.end();
      await once(stream, 'close').catch(() => undefined);
    }
    await this.#onClosed(this.#sizeBytes);
    return this.#failure;
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#path, { flags: 'wx', mode: 0o600 });
    stream.on('error', (error) => {
      const found = errnoOf(error) ?? messageOf(error);
      const message = `cannot write ${quoteText(this.#path)}: found ${found}; wanted to keep the whole output of an instruction`;
      this.#failure ??= new Error(message, { cause: error });
    });
    return stream;
  }
}
