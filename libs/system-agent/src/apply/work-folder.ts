import { fileSystemError } from '@wins/trusted-files';
import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import type { PlanFiles } from '../ports.js';
import { datecode } from './unix-date.js';

const OF_A_PASS = /^\d{8}-\d{6}$/;

/**
 * Private folder for the working directories of instructions. Each pass has a subfolder, named after the pass's start time.
 * In that subfolder, each execution of an instruction has its own folder.
 */
export class WorkFolder {
  readonly #folder: string;
  readonly #files: PlanFiles;

  constructor(folder: string, files: PlanFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  /** @throws AgentError `fileFailed`. */
  async make(now: Date, name: string): Promise<string> {
    const folder = path.join(this.#folder, datecode(now), name);
    await this.#files.ensurePrivateFolder(this.#folder);
    await this.#files.ensurePrivateFolder(folder);
    return folder;
  }

  /**
   * Removes the folders of all passes, and the work folder itself if nothing else is in it. Does not follow links.
   * @throws AgentError `fileFailed`, if others could put links into the work folder; TrustedFileError for an item that cannot
   * be removed, such as an open file on Windows.
   */
  async clear(): Promise<void> {
    const stats = await lstat(this.#folder).catch(() => undefined);
    if (stats?.isDirectory() !== true) return;
    const names = (await readdir(this.#folder)).filter((name) => OF_A_PASS.test(name));
    if (names.length > 0) await this.#files.ensurePrivateFolder(this.#folder);
    const removed = await Promise.allSettled(
      names.map((name) => rm(path.join(this.#folder, name), { recursive: true, force: true })),
    );
    const failed = removed.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw fileSystemError(failed.reason, 'remove', this.#folder);
    // Fails if other content remains.
    await rmdir(this.#folder).catch(() => undefined);
  }
}
