import type { Plan, PlanFile } from '@wins/system-agent';
import { readBytes } from '@wins/trusted-files';
import { onSystemDrive } from '@wins/base';
import { lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';

export type FileEffect = 'create' | 'replace' | 'keep' | 'delete' | 'none' | '';

/** Predicts the effect of a plan on each of its files, in order; empty for an unpredictable effect. Changes nothing. */
export async function fileEffects({ files }: Plan): Promise<readonly FileEffect[]> {
  const effects: FileEffect[] = [];
  for (const file of files)
    effects.push(await effectOf({ ...file, path: onSystemDrive(file.path) }));
  return effects;
}

async function effectOf(file: PlanFile): Promise<FileEffect> {
  try {
    const isThere = lstatSync(file.path, { throwIfNoEntry: false }) !== undefined;
    if (file.action === 'delete') return isThere ? 'delete' : 'none';
    if (!isThere) return 'create';
    if (file.directory) return 'keep';
    const content = Buffer.from(file.content ?? '', 'base64');
    const found = await stat(file.path);
    if (!found.isFile() || found.size !== content.length) return 'replace';
    // The path may name another file by now, such as a pipe without a writer.
    const now = await readBytes(file.path, { followLinks: true, maxBytes: content.length });
    return content.equals(now) ? 'keep' : 'replace';
  } catch {
    return '';
  }
}
