import { fileSystemError } from '@wins/trusted-files';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { PlanFiles } from '../ports.js';

/** Beyond these limits, the oldest outputs are removed. */
export const MAX_OUTPUT_FILES = 256;
export const MAX_OUTPUTS_BYTES = 128 * 1024 * 1024;
/** Maximum number of bytes kept from one execution's output. Bytes that wait in memory for a slow disk count too. */
export const MAX_OUTPUT_FILE_BYTES = 16 * 1024 * 1024;

interface KeptFile {
  readonly name: string;
  readonly sizeBytes: number;
}

/** Keeps the outputs of executions in a private folder, stdout and stderr interleaved. */
export class OutputFiles {
  readonly #folder: string;
  readonly #files: PlanFiles;
  #kept: KeptFile[] | undefined;

  constructor(folder: string, files: PlanFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  /** @param beginning - Prefix of the file name. @throws AgentError `fileFailed`. */
  async open(beginning: string): Promise<OutputFile> {
    await this.#files.ensurePrivateFolder(this.#folder);
    this.#kept ??= await this.#find();
    // Random, because an instruction may run twice within a second.
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
      // If this fails, the agent finds the file again after its next start.
      await unlink(path.join(this.#folder, oldest.name)).catch(() => undefined);
    }
  }
}

/** Output of one execution. Creates the file at the first byte. */
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

  /** Never waits. Drops bytes above the limit, but counts them. */
  add(bytes: Buffer): void {
    const kept = bytes.subarray(0, MAX_OUTPUT_FILE_BYTES - this.#sizeBytes);
    this.#leftOutBytes += bytes.length - kept.length;
    if (kept.length === 0 || this.#failure !== undefined) return;
    this.#stream ??= this.#open();
    this.#stream.write(kept);
    this.#sizeBytes += kept.length;
  }

  /** Resolves with the first failure, if any, once all output is written. Call it once. */
  async close(): Promise<Error | undefined> {
    const stream = this.#stream;
    if (this.#leftOutBytes > 0)
      stream?.write(`\n[wins: ${this.#leftOutBytes} more bytes were not kept]\n`);
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
      this.#failure ??= fileSystemError(error, 'write', this.#path) as Error;
    });
    return stream;
  }
}
