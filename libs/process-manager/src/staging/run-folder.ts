import { messageOf, quoteText, type ProcessHost } from '@wins/base';
import { TokenBucket } from '@wins/time';
import { replaceFile } from '@wins/trusted-files';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { assertFileBytes, type FilesGrant, type RunFile } from '../policy/run-files.js';
import { ProcessError } from '../process-error.js';

/** Variable that holds the path of the run's folder. */
export const FILES_VARIABLE = 'WINS_FILES';

/**
 * Allows 32 changes in a row, enough for every file of a run, because Kubernetes updates all files of a mounted volume at
 * once. Allows one more change a second.
 */
const CHANGES = { burst: 32, perSecond: 1 };
// Read-only even for the owner, because runs use the daemon's account.
const READ_ONLY = 0o400;
/** Time for retries, because Windows cannot replace a file while the program reads it. */
const HELD_FILE_MS = 5000;

export function runFolderOf(stateDirectory: string, mark: string): string {
  return path.join(stateDirectory, 'files', mark);
}

/** Removes the folders of all runs that are not in `marks`. Returns the failures. */
export async function removeLeftFolders(
  stateDirectory: string,
  marks: ReadonlySet<string>,
): Promise<readonly { readonly mark: string; readonly error: unknown }[]> {
  const found = await readdir(path.dirname(runFolderOf(stateDirectory, '_'))).catch(() => []);
  const left = found.filter((mark) => /^[0-9a-f]{32}$/.test(mark) && !marks.has(mark));
  const removed = left.map(async (mark) => ({
    mark,
    error: await remove(runFolderOf(stateDirectory, mark)),
  }));
  return (await Promise.all(removed)).filter(({ error }) => error !== undefined);
}

/** Private folder with the files of a run. A reader sees the old content or the new one, never a mix. */
export class RunFolder {
  readonly path: string;
  readonly #host: Pick<ProcessHost, 'ensurePrivateDirectory'>;
  readonly #grant: FilesGrant;
  readonly #sizes = new Map<string, number>();
  readonly #changes = new TokenBucket(CHANGES);
  #writing: Promise<unknown> | undefined;
  #removed: Promise<unknown> | undefined;
  readonly #ending = new AbortController();

  constructor(path: string, host: Pick<ProcessHost, 'ensurePrivateDirectory'>, grant: FilesGrant) {
    this.path = path;
    this.#host = host;
    this.#grant = grant;
  }

  /** Requires files that passed `assertRunFiles`. @throws ProcessError `stateUnavailable`. */
  async fill(files: readonly RunFile[]): Promise<void> {
    for (const file of files) await this.#write(file);
  }

  /**
   * Replaces a file once `recorded` has resolved.
   *
   * @throws ProcessError `notFound` for an unknown name or an ending run, `filesNotAllowed`, `tooManyChanges`,
   * `stateUnavailable`; also the error of `recorded`.
   */
  async change(file: RunFile, recorded: () => Promise<unknown>): Promise<void> {
    const { name, content } = file;
    const tried = `cannot change the file ${quoteText(name)} of a run`;
    const size = this.#sizes.get(name);
    if (size === undefined || this.#removed !== undefined) {
      const found = size === undefined ? 'the run was started without it' : 'the run is ending';
      throw new ProcessError('notFound', `${tried}: ${found}`);
    }
    const others = [...this.#sizes.values()].reduce((sum, each) => sum + each, -size);
    assertFileBytes(others + content.length, this.#grant);
    if (this.#writing !== undefined || !this.#changes.take()) {
      const limit = `limit ${CHANGES.perSecond} per second, one at a time`;
      throw new ProcessError('tooManyChanges', `${tried}: too many changes (${limit})`);
    }
    const writing = (this.#writing = recorded().then(() => this.#write(file)));
    try {
      await writing;
    } finally {
      this.#writing = undefined;
    }
  }

  /** Resolves with the error if the removal fails. Idempotent; never rejects. */
  remove(): Promise<unknown> {
    this.#ending.abort();
    return (this.#removed ??= Promise.resolve(this.#writing)
      .catch(() => undefined)
      .then(() => remove(this.path)));
  }

  async #write({ name, content }: RunFile): Promise<void> {
    try {
      // Check the folder again, because the program could have replaced it with a link.
      this.#host.ensurePrivateDirectory(this.path);
      const file = path.join(this.path, name);
      const rights = { mode: READ_ONLY, isFlushed: false, isDurable: false };
      const patience = { heldFileMs: HELD_FILE_MS, signal: this.#ending.signal };
      await replaceFile(file, content, { ...rights, ...patience });
      this.#sizes.set(name, content.length);
    } catch (cause) {
      const message = `cannot write the file ${quoteText(name)} of a run: ${messageOf(cause)}`;
      throw new ProcessError('stateUnavailable', message, { cause });
    }
  }
}

async function remove(folder: string): Promise<unknown> {
  try {
    // Retry, because on Windows a program that has just ended may briefly keep a file open.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    return undefined;
  } catch (error) {
    return error;
  }
}
