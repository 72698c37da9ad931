import { createHash } from 'node:crypto';
import { chmod, open, type FileHandle } from 'node:fs/promises';
import { errnoOf } from '@wins/wins-program';
import { discard, fileError } from '../journal/durable-files.js';
import type { Effects } from './effects.js';
import { HEADER_BYTES, programFormat, type ProgramFormat } from '../plan/program-format.js';
import { UpgradeError } from '../upgrade-error.js';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';

/** What reading a program tells of it. */
export interface ProgramContent extends Omit<ProgramIdentity, 'version'> {
  readonly format: ProgramFormat;
}

const CHUNK_BYTES = 1024 * 1024;
const LARGEST_BYTES = 2 * 1024 ** 3;

/**
 * Reads a program whole and says what it is.
 *
 * @returns Undefined when there is no such file.
 * @throws UpgradeError `fileFailed`; `refused` for what is no regular file or has more than 2 GiB.
 */
export async function readProgram(file: string): Promise<ProgramContent | undefined> {
  let source: FileHandle;
  try {
    source = await open(file, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw fileError('read', file, error);
  }
  try {
    return await digest(file, source, undefined);
  } finally {
    await source.close();
  }
}

/**
 * Copies a program, durably, and says what the copy is: what is told of is what was written, whatever happens to the source.
 *
 * @throws UpgradeError as {@link readProgram}; `fileFailed` when the source does not exist.
 */
export async function copyProgram(
  effects: Effects,
  what: string,
  file: string,
  copy: string,
): Promise<ProgramContent> {
  try {
    return await effects.run(`copy ${what}`, async () => {
      const source = await open(file, 'r');
      try {
        const destination = await open(copy, 'w', 0o700);
        try {
          const content = await digest(file, source, destination);
          await destination.sync();
          return content;
        } finally {
          await destination.close();
        }
      } finally {
        await source.close();
      }
    });
  } catch (error) {
    await discard(effects, copy);
    throw fileError('copy the program', file, error);
  }
}

/**
 * Gives a program the mode that programs have: ours to write, everyone's to run. Windows has none: there a program keeps the access list
 * of the private folder, also when it is in place, and is for administrators only.
 */
export async function makeRunnable(effects: Effects, file: string): Promise<void> {
  try {
    await effects.run('make runnable', () => chmod(file, 0o755));
  } catch (error) {
    throw fileError('make runnable', file, error);
  }
}

async function digest(
  file: string,
  source: FileHandle,
  copy: FileHandle | undefined,
): Promise<ProgramContent> {
  const stats = await source.stat();
  if (!stats.isFile()) throw refusal(file, 'it is no regular file');
  const sha256 = createHash('sha256');
  const sha1 = createHash('sha1');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let header = Buffer.alloc(0);
  for (let total = 0; ;) {
    const { bytesRead } = await source.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (total === 0) header = Buffer.from(bytes.subarray(0, HEADER_BYTES));
    total += bytesRead;
    if (total > LARGEST_BYTES) throw refusal(file, 'it has more than 2 GiB');
    sha256.update(bytes);
    sha1.update(bytes);
    await copy?.writeFile(bytes);
  }
  return {
    sha256: sha256.digest('hex'),
    sha1: sha1.digest('hex'),
    format: programFormat(header),
  };
}

function refusal(file: string, found: string): UpgradeError {
  return new UpgradeError('refused', `cannot take ${file} for a program: ${found}`);
}
