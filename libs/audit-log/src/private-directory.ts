import { lstat, mkdir } from 'node:fs/promises';

/**
 * Makes the folder of a log (mode 0700, with its parents), or checks that nobody else has a right to it. On Windows, where
 * modes say nothing, it is made and no more: give `prepareDirectory` there.
 *
 * @throws Error that says what was found.
 */
export async function preparePrivateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return;
  const facts = await lstat(directory);
  const uid = process.getuid?.() ?? 0;
  const mode = facts.mode & 0o7777;
  let found: string | undefined;
  if (!facts.isDirectory()) found = 'something that is not a folder';
  else if (facts.uid !== uid) found = `a folder of user ${facts.uid}`;
  else if ((mode & 0o077) !== 0) found = `mode ${mode.toString(8)}`;
  if (found === undefined) return;
  throw new Error(`found ${found}; wanted a folder of mode 0700 that belongs to user ${uid}`);
}
