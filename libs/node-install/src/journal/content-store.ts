import {
  copyPendingFile,
  hashFile,
  moveFile,
  syncFolder,
  writePendingFile,
} from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { InstallError } from '../install-error.js';
import type { Content } from '../plan/plan.js';
import { act, type InstallContext } from '../run/install-context.js';

const PRIVATE = 0o600;
/** The largest program, and more than any other content. */
const MAX_BYTES = 512 * 1024 * 1024;

/** The content that digests in steps stand for, new and old, in private files of that name until the installation is committed. */
export class ContentStore {
  readonly #folder: string;
  readonly #context: InstallContext;

  constructor(context: InstallContext) {
    this.#context = context;
    this.#folder = path.join(context.places.stateFolder, 'contents');
  }

  /** Where the content of a digest is, or would be. */
  pathOf(sha256: string): string {
    return path.join(this.#folder, sha256);
  }

  /** Keeps content under its digest, durably. @throws InstallError `changed` when it has another. */
  async put(sha256: string, content: Content): Promise<void> {
    await this.#make(sha256, async (temporary) => {
      if (content instanceof Uint8Array) {
        if (createHash('sha256').update(content).digest('hex') !== sha256) throw other(sha256);
        const target = this.pathOf(sha256);
        const fill = { mode: PRIVATE };
        await writePendingFile(target, fill, (write) => write(content, 0), temporary);
        return;
      }
      await copyPendingFile(content.file, this.pathOf(sha256), {
        ...{ algorithms: ['sha256'], mode: PRIVATE, maxBytes: MAX_BYTES, temporary },
        signal: this.#context.signal,
        accept: (digests) => {
          if (digests.sha256 !== sha256) throw other(sha256);
        },
      });
    });
  }

  /** Keeps what `keep` writes to a file. @throws InstallError `changed` when that has another digest. */
  async keep(sha256: string, keep: (file: string) => Promise<void>): Promise<void> {
    await this.#make(sha256, async (temporary) => {
      await keep(temporary);
      const found = await hashFile(temporary, ['sha256'], { maxBytes: MAX_BYTES });
      if (found.sha256 !== sha256) throw other(sha256);
    });
  }

  /** Removes all of it. */
  async clear(): Promise<void> {
    await act(this.#context, 'remove contents', () =>
      rm(this.#folder, { recursive: true, force: true }),
    );
  }

  async #make(sha256: string, fill: (temporary: string) => Promise<void>): Promise<void> {
    if (existsSync(this.pathOf(sha256))) return;
    const temporary = `${this.pathOf(sha256)}.tmp`;
    await act(this.#context, 'keep content', async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await rm(temporary, { force: true });
      await fill(temporary);
    });
    await act(this.#context, 'name content', async () => {
      await moveFile(temporary, this.pathOf(sha256));
      await syncFolder(this.#context.places.stateFolder);
    });
  }
}

function other(sha256: string): InstallError {
  const found = `another digest than the ${sha256} that was planned`;
  return new InstallError('changed', `cannot keep content: found ${found}; run it again`);
}
