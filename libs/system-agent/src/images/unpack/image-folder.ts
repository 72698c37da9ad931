import { chmod, link, lstat, mkdir, open, readdir, realpath, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf, quoteText } from '@wins/base';
import { imageFailed } from '../image-failure.js';

const FOLDER_MODE = 0o755;
/** Others must not change files that run with the agent's rights. */
const ALLOWED_BITS = 0o755;

/**
 * Target of unpacked layers. Walks every path step by step from the root. Follows links only to folders below the root.
 * Replaces existing objects instead of writing through them. Nobody else writes here: the agent's work folder is private.
 */
export class ImageFolder {
  readonly #root: string;
  readonly #onFolder: (path: string) => void;
  /** Paths of the current layer. The whiteouts of this layer do not remove them. */
  #made = new Set<string>();

  private constructor(root: string, onFolder: (path: string) => void) {
    this.#root = root;
    this.#onFolder = onFolder;
  }

  /**
   * @param onFolder - Called before each implied folder is made; may throw to end the unpacking.
   */
  static async open(folder: string, onFolder: (path: string) => void): Promise<ImageFolder> {
    return new ImageFolder(await realpath(folder), onFolder);
  }

  beginLayer(): void {
    this.#made = new Set();
  }

  async makeFolder(parts: readonly string[], mode: number): Promise<void> {
    const folder = await this.#enter(parts, true);
    if (folder !== this.#root) await chmod(folder, (mode & ALLOWED_BITS) | 0o700);
  }

  async makeFile(parts: readonly string[], mode: number, bytes: AsyncIterable<Uint8Array>) {
    const location = await this.#emptiedPath(parts);
    const file = await open(location, 'wx', mode & ALLOWED_BITS);
    try {
      for await (const chunk of bytes) await file.appendFile(chunk);
      // Restore the bits that the process's umask removed.
      await file.chmod(mode & ALLOWED_BITS);
    } finally {
      await file.close();
    }
  }

  /**
   * Makes the link direct and relative, so that every path to it leads to the same target.
   * @param resolve - Returns the target's path from the root, given the path of the link's folder.
   */
  async makeLink(
    parts: readonly string[],
    resolve: (folder: readonly string[]) => readonly string[],
  ): Promise<void> {
    const location = await this.#emptiedPath(parts);
    const folder = path.dirname(location);
    const steps = path.relative(this.#root, folder).split(path.sep);
    const target = path.join(this.#root, ...resolve(steps.filter((step) => step !== '')));
    await symlink(path.relative(folder, target) || '.', location);
  }

  async makeHardLink(parts: readonly string[], target: readonly string[]): Promise<void> {
    const source = await this.#find(target);
    const stats = source === undefined ? undefined : await statsOf(source);
    if (source === undefined || stats?.isFile() !== true) {
      const found = stats === undefined ? 'nothing there' : 'no regular file there';
      throw imageFailed(`link to ${quoteText(target.join('/'))}`, found, 'a file of the image');
    }
    if ((await this.#find(parts)) === source) return;
    await link(source, await this.#emptiedPath(parts));
  }

  async remove(parts: readonly string[]): Promise<void> {
    const location = await this.#find(parts);
    if (location === undefined || location === this.#root) return;
    await this.#removeOlder(location);
  }

  async empty(parts: readonly string[]): Promise<void> {
    const folder = await this.#find(parts);
    if (folder !== undefined && (await statsOf(folder))?.isDirectory() === true)
      await this.#removeOlderIn(folder);
  }

  async #removeOlder(location: string): Promise<void> {
    if (!this.#made.has(location)) await rm(location, { recursive: true, force: true });
    else if ((await statsOf(location))?.isDirectory() === true) await this.#removeOlderIn(location);
  }

  async #removeOlderIn(folder: string): Promise<void> {
    for (const name of await readdir(folder)) await this.#removeOlder(path.join(folder, name));
  }

  async #emptiedPath(parts: readonly string[]): Promise<string> {
    const name = parts.at(-1);
    if (name === undefined)
      throw imageFailed('unpack the root of an image', 'no folder', 'a folder');
    const location = path.join(await this.#enter(parts.slice(0, -1)), name);
    await rm(location, { recursive: true, force: true });
    this.#made.add(location);
    return location;
  }

  /** Creates missing folders, and returns the real path. `isEntry`: the layer lists the folder, so it is already counted. */
  async #enter(parts: readonly string[], isEntry = false): Promise<string> {
    let current = this.#root;
    for (const [index, part] of parts.entries()) {
      const next = path.join(current, part);
      const stats = await statsOf(next);
      if (stats?.isSymbolicLink() === true) {
        current = await this.#followed(next);
        continue;
      }
      if (stats?.isDirectory() !== true) {
        const isLast = index === parts.length - 1;
        if (!isEntry || !isLast) this.#onFolder(path.relative(this.#root, next));
        if (stats !== undefined) await rm(next);
        await mkdir(next);
        await chmod(next, FOLDER_MODE);
      }
      this.#made.add(next);
      current = next;
    }
    return current;
  }

  /**
   * Returns the path of the object, or undefined when nothing is there. Follows links to folders of the image, except a
   * link in the last part.
   */
  async #find(parts: readonly string[]): Promise<string | undefined> {
    let current = this.#root;
    for (const [index, part] of parts.entries()) {
      const next = path.join(current, part);
      const stats = await statsOf(next);
      if (stats === undefined) return undefined;
      const last = index === parts.length - 1;
      if (!last && stats.isSymbolicLink()) current = await this.#followed(next);
      else if (last || stats.isDirectory()) current = next;
      else return undefined;
    }
    return current;
  }

  async #followed(location: string): Promise<string> {
    const what = `unpack through the link ${quoteText(path.relative(this.#root, location))}`;
    const wanted = 'a folder of the image';
    let real: string;
    try {
      real = await realpath(location);
    } catch (error) {
      throw imageFailed(what, 'that it leads nowhere', wanted, error);
    }
    if (real !== this.#root && !real.startsWith(this.#root + path.sep))
      throw imageFailed(what, 'that it leads out of the folder', wanted);
    if ((await statsOf(real))?.isDirectory() !== true) throw imageFailed(what, 'no folder', wanted);
    return real;
  }
}

async function statsOf(location: string) {
  try {
    return await lstat(location);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
