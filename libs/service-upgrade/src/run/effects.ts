import {
  fileSystemError,
  isHeld,
  moveFile,
  readBytes,
  replaceFile,
  TrustedFileError,
  whenNotHeld,
  type TrustedFileErrorCode,
} from '@wins/trusted-files';
import { errnoOf, messageOf } from '@wins/base';
import { readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { UpgradeError } from '../upgrade-error.js';

/** Sees every act that changes something outside this process, by name, and does it, or not. */
export type Around = <T>(effect: string, act: () => Promise<T>) => Promise<T>;

/**
 * The one door through which an upgrade changes the world: journal, files and service alike. A test that an upgrade survives
 * its own end at any moment makes it end here.
 */
export class Effects {
  readonly #heldFileMs: number;
  /** Does it once. */
  readonly once: Around;

  /** @param heldFileMs - How long to wait for a file that another program holds, in milliseconds. Default 15,000. */
  constructor(around: Around = (_effect, act) => act(), heldFileMs = 15_000) {
    this.once = around;
    this.#heldFileMs = heldFileMs;
  }

  /** Does it, and tries again while another program holds the file; at the time limit throws the last error. */
  readonly run: Around = (effect, act) =>
    whenNotHeld(() => this.once(effect, act), { heldFileMs: this.#heldFileMs });

  /**
   * Does something with a file, as {@link run}.
   *
   * @param refusals - Errors that are a refusal (`refused`) instead of a failure.
   * @throws UpgradeError `fileFailed`, which says that this could not be done, with which file, and why.
   */
  async onFile<T>(
    effect: string,
    tried: string,
    file: string,
    act: () => Promise<T>,
    refusals?: readonly TrustedFileErrorCode[],
  ): Promise<T> {
    try {
      return await this.run(effect, act);
    } catch (error) {
      throw fileError(tried, file, error, refusals);
    }
  }

  /** Replaces a file as one act: a reader, after a loss of power too, finds the old text or the new. @throws UpgradeError `fileFailed`. */
  async write(file: string, text: string): Promise<void> {
    await this.onFile(`write ${path.basename(file)}`, 'write', file, () => replaceFile(file, text));
  }

  /** Moves a file over another as one durable act. @throws UpgradeError `fileFailed`. */
  async move(what: string, from: string, to: string): Promise<void> {
    await this.onFile(`move ${what}`, `move ${from} to`, to, () => moveFile(from, to));
  }

  /** Removes a file, if it is there. @throws UpgradeError `fileFailed`. */
  async remove(what: string, file: string): Promise<void> {
    await this.onFile(`remove ${what}`, 'remove', file, () => unlinkIfThere(file));
  }

  /** Removes a file that is not wanted any more, if that can be done now: else the next sweep does it. */
  async discard(file: string): Promise<void> {
    await this.once('discard', () => unlinkIfThere(file)).catch(() => undefined);
  }

  /** Removes from a folder of ours the files that are not to be kept. A file in use stays for the next time. */
  async sweep(folder: string, keep: readonly string[]): Promise<void> {
    const look = readdir(folder, { withFileTypes: true });
    const entries = await look.catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return [];
      throw fileError('look into', folder, error);
    });
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() || keep.includes(file)) continue;
      try {
        await this.once('sweep', () => unlinkIfThere(file));
      } catch (error) {
        if (!isHeld(error, 'win32')) throw fileError('remove', file, error);
      }
    }
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/**
 * Reads a file of ours whole. Links are refused.
 *
 * @returns Undefined when there is none; an empty text when it has more than `maxBytes`: then it is not ours.
 * @throws UpgradeError `fileFailed`.
 */
export async function readText(file: string, maxBytes: number): Promise<string | undefined> {
  try {
    return (await readBytes(file, { maxBytes })).toString('utf8');
  } catch (error) {
    const code = error instanceof TrustedFileError ? error.code : undefined;
    if (code === 'notFound') return undefined;
    if (code === 'tooLarge') return '';
    throw fileError('read', file, error);
  }
}

/** Says which file operation failed, on what, and why: a refusal (`refused`) for these codes, else a failure. */
export function fileError(
  tried: string,
  file: string,
  error: unknown,
  refusals: readonly TrustedFileErrorCode[] = [],
): UpgradeError {
  if (error instanceof UpgradeError) return error;
  const cause = fileSystemError(error, tried, file);
  if (!(cause instanceof TrustedFileError)) {
    const message = `cannot ${tried} ${file}: ${messageOf(error)}`;
    return new UpgradeError('fileFailed', message, { cause });
  }
  const above = cause.at === cause.path ? '' : `of ${cause.at}, above it, `;
  const code = refusals.includes(cause.code) ? 'refused' : 'fileFailed';
  return new UpgradeError(code, `cannot ${tried} ${file}: ${above}${cause.found}`, { cause });
}
