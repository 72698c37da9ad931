import type { Diagnostics } from './diagnostics.js';
import { replaceFile } from '@wins/trusted-files';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** Name of the event that makes a service write its stacks. Go releases use the same name. */
export function stackDumpEvent(pid: number): string {
  return `Global\\stackdump-${pid}`;
}

export function stackDumpFile(pid: number): string {
  return `rancher-wins.${pid}.stacks.log`;
}

const MOST_FILES = 8;
const LONGEST_PART = 1024 * 1024;
const STACK_FILE = /^rancher-wins\.\d{1,10}\.stacks\.log$/;

/** Writes at most 2 MiB, and keeps seven files of older processes. @throws TrustedFileError, FeatureError. */
export async function writeStackDump(diagnostics: Diagnostics, folder: string, seconds = 1) {
  const file = path.join(folder, stackDumpFile(process.pid));
  const stacks = await diagnostics.stacks({ seconds });
  const report = diagnostics.report();
  const parts = [new Date().toISOString(), stacks, report].map((part) =>
    part.slice(0, LONGEST_PART),
  );
  await replaceFile(file, `${parts.join('\n')}\n`);
  await removeOldest(folder, path.basename(file));
  return file;
}

async function removeOldest(folder: string, newest: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => STACK_FILE.test(name) && name !== newest);
  const known = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      return { file, at: (await stat(file)).mtimeMs };
    }),
  );
  const old = known.sort((one, other) => other.at - one.at).slice(MOST_FILES - 1);
  for (const { file } of old) await rm(file, { force: true });
}
