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
import { lstat, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { UpgradeError } from './upgrade-error.js';

/** Wraps an effect. Tests use it to skip effects or to make them fail. */
export type Around = <T>(effect: string, action: () => Promise<T>) => Promise<T>;

/** Names the processes that hold a file, such as `nginx.exe (process 12)`. Never rejects; returns an empty list if the system cannot tell. */
export type HoldersOf = (file: string) => Promise<readonly string[]>;

/**
 * Changes the files of an upgrade. Every change goes through `once`, even the changes that a `ServiceControl` makes to
 * the service. Tests can therefore crash the upgrade at every change.
 */
export class Effects {
  readonly #heldFileMs: number;
  readonly once: Around;
  readonly holdersOf: HoldersOf;

  /**
   * @param heldFileMs - How long to wait for a file that another program holds. Default 15,000.
   * @param holdersOf - Default: never knows.
   */
  constructor(
    around: Around = (_effect, action) => action(),
    heldFileMs = 15_000,
    holdersOf: HoldersOf = () => Promise.resolve([]),
  ) {
    this.once = around;
    this.holdersOf = holdersOf;
    this.#heldFileMs = heldFileMs;
  }

  /** Retries while another program holds the file; at the time limit throws the last error. */
  readonly run: Around = (effect, action) =>
    whenNotHeld(() => this.once(effect, action), this.#heldFileMs);

  /**
   * @param others - Further files that the action needs, besides `file`.
   * @throws UpgradeError `refused` for the codes in `refusals`, otherwise `fileFailed`. Its message names the processes that hold a file.
   */
  async onFile<T>(
    effect: string,
    tried: string,
    file: string,
    action: () => Promise<T>,
    refusals: readonly TrustedFileErrorCode[] = [],
    others: readonly string[] = [],
  ): Promise<T> {
    try {
      return await this.run(effect, action);
    } catch (error) {
      const held = isHeld(error) ? await this.#heldBy([file, ...others]) : '';
      throw fileError(tried, file, error, refusals, held);
    }
  }

  /** Atomic, even across a loss of power. @throws UpgradeError `fileFailed`. */
  async write(file: string, text: string): Promise<void> {
    await this.onFile(`write ${path.basename(file)}`, 'write', file, () => replaceFile(file, text));
  }

  /** Atomic and durable. @throws UpgradeError `fileFailed`. */
  async move(what: string, from: string, to: string): Promise<void> {
    await this.onFile(`move ${what}`, `move ${from} to`, to, () => moveFile(from, to), [], [from]);
  }

  /** @throws UpgradeError `fileFailed`. */
  async remove(what: string, file: string): Promise<void> {
    await this.onFile(`remove ${what}`, 'remove', file, () => unlinkIfThere(file));
  }

  /** Removes an obsolete file if possible; otherwise the next sweep removes it. */
  async discard(file: string): Promise<void> {
    await this.once('discard', () => unlinkIfThere(file)).catch(() => undefined);
  }

  /** Removes a file if possible. Returns true if no file has this name afterwards. */
  async vacate(file: string): Promise<boolean> {
    if (await isAbsent(file)) return true;
    await this.discard(file);
    return isAbsent(file);
  }

  /** Removes all files except `keep`. A file in use stays for the next sweep. */
  async sweep(folder: string, keep: readonly string[]): Promise<void> {
    const look = readdir(folder, { withFileTypes: true });
    const entries = await look.catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return [];
      throw fileError('list', folder, error);
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

  async #heldBy(files: readonly string[]): Promise<string> {
    const holders = (await Promise.all(files.map(this.holdersOf))).flat();
    return holders.length === 0 ? '' : `; held by ${holders.join(', ')}`;
  }
}

/** False also while Windows removes the file, which it does once the last process has closed it. */
async function isAbsent(file: string): Promise<boolean> {
  return lstat(file).then(
    () => false,
    (error: unknown) => errnoOf(error) === 'ENOENT',
  );
}

async function unlinkIfThere(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** Follows no links. Undefined for a missing file, empty for a file above `maxBytes`. @throws UpgradeError `fileFailed`. */
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

export function fileError(
  tried: string,
  file: string,
  error: unknown,
  refusals: readonly TrustedFileErrorCode[] = [],
  held = '',
): UpgradeError {
  if (error instanceof UpgradeError) return error;
  const cause = fileSystemError(error, tried, file);
  if (!(cause instanceof TrustedFileError)) {
    const message = `cannot ${tried} ${file}: ${messageOf(error)}${held}`;
    return new UpgradeError('fileFailed', message, { cause });
  }
  const above = cause.at === cause.path ? '' : ` because of ${cause.at}`;
  const code = refusals.includes(cause.code) ? 'refused' : 'fileFailed';
  return new UpgradeError(code, `cannot ${tried} ${file}${above}: ${cause.found}${held}`, {
    cause,
  });
}
