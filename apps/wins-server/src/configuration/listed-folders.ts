import { stat } from 'node:fs/promises';
import path from 'node:path';

/** A disk that does not answer must not keep a daemon from starting. */
const LOOK_MS = 2000;

/** Which of the listed paths are folders, by their position; what cannot be looked at within two seconds is not. */
export async function listedFolders(paths: readonly string[]): Promise<readonly number[]> {
  const folders: number[] = [];
  const isOver = AbortSignal.timeout(LOOK_MS);
  const over = new Promise<void>((resolve) => {
    isOver.addEventListener('abort', () => resolve(), { once: true });
  });
  for (const [index, file] of paths.entries()) {
    if (isOver.aborted) break;
    if (!path.isAbsolute(file)) continue;
    const look = stat(file).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if ((await Promise.race([look, over])) === true) folders.push(index);
  }
  return folders;
}
