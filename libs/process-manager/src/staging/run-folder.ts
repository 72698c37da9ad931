import { messageOf, quoteText, type ProcessHost } from '@wins/base';
import { TokenBucket } from '@wins/time';
import { replaceFile } from '@wins/trusted-files';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { assertFileBytes, type FilesGrant, type RunFile } from '../policy/run-files.js';
import { ProcessError } from '../process-error.js';

/** The variable by which a program finds the folder of its files. */
export const FILES_VARIABLE = 'WINS_FILES';

/** Enough for all files of a run, because a volume changes as a whole. A token rotates once an hour. */
const CHANGES = { burst: 32, perSecond: 1 };
// For its owner: the programs of runs have the account of the daemon.
const READ_ONLY = 0o400;
/** On Windows a file cannot be replaced while its program reads it. */
const HELD_FILE_MS = 5000;

/** Where the files of a run lie, below the state directory of its daemon. */
export function runFolderOf(stateDirectory: string, mark: string): string {
  return path.join(stateDirectory, 'files', mark);
}

/** Removes the folders of all runs but these; the others belong to dead daemons. @returns what could not be removed. */
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

/** The private folder with the files that a client gave to its run. A reader of a file has the old content or the new one. */
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

  /** Makes the folder and writes files that were judged. @throws ProcessError `stateUnavailable`. */
  async fill(files: readonly RunFile[]): Promise<void> {
    for (const file of files) await this.#write(file);
  }

  /**
   * Replaces one of the files, once that is recorded.
   *
   * @throws ProcessError `notFound` for another name or when the run is ending, `filesNotAllowed` beyond the bounds of the entry,
   *   `tooManyChanges` while another change is under way or after too many; `stateUnavailable`; as `recorded` rejects.
   */
  async change(file: RunFile, recorded: () => Promise<unknown>): Promise<void> {
    const { name, content } = file;
    const size = this.#sizes.get(name);
    if (size === undefined || this.#removed !== undefined) {
      const found = size === undefined ? 'the run was started without it' : 'the run is ending';
      throw new ProcessError(
        'notFound',
        `cannot change the file ${quoteText(name)} of a run: ${found}`,
      );
    }
    const others = [...this.#sizes.values()].reduce((sum, each) => sum + each, -size);
    assertFileBytes(others + content.length, this.#grant);
    if (this.#writing !== undefined || !this.#changes.take()) {
      const message = `cannot change the file ${quoteText(name)} of a run: too many changes (limit ${CHANGES.perSecond} per second, one at a time)`;
      throw new ProcessError('tooManyChanges', message);
    }
    const writing = recorded().then(() => this.#write(file));
    this.#writing = writing;
    try {
      await writing;
    } finally {
      this.#writing = undefined;
    }
  }

  /** Removes it with all that is in it. Idempotent. @returns why it could not be removed, or undefined. Never rejects. */
  remove(): Promise<unknown> {
    this.#ending.abort();
    return (this.#removed ??= Promise.resolve(this.#writing)
      .catch(() => undefined)
      .then(() => remove(this.path)));
  }

  async #write({ name, content }: RunFile): Promise<void> {
    try {
      // Its program could have put a link there.
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
    // On Windows a program that has just ended may hold a file for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    return undefined;
  } catch (error) {
    return error;
  }
}
