import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, open, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { discard, fileError } from '../journal/durable-files.js';
import type { Effects } from './effects.js';
import { HEADER_BYTES, programFormat, type ProgramFormat } from '../plan/program-format.js';
import { messageOf, nodeCode, UpgradeError } from '../upgrade-error.js';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';

/** What reading a program tells of it. */
export interface ProgramContent extends Omit<ProgramIdentity, 'version'> {
  readonly format: ProgramFormat;
}

/** How a program that was run to its end ended. */
export interface ProgramAnswer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CHUNK_BYTES = 1024 * 1024;
const LARGEST_BYTES = 2 * 1024 ** 3;
const LONGEST_OUTPUT = 64 * 1024;
const BUSY_DELAYS_MS = [5, 10, 20, 40, 80, 160];
/** What a program gets of our environment; nothing that makes it load code. */
const PASSED_ON = ['PATH', 'SYSTEMROOT', 'SystemRoot', 'TEMP', 'TMP', 'ProgramData'] as const;

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
    if (nodeCode(error) === 'ENOENT') return undefined;
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

/**
 * Runs a program to its end, without our environment, for `limitMs` at most.
 *
 * @throws UpgradeError `programFailed` when it cannot be started, does not end in time, or says more than 64 KiB.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  limitMs: number,
): Promise<ProgramAnswer> {
  for (const delayMs of [...BUSY_DELAYS_MS, undefined]) {
    try {
      return await runOnce(file, args, limitMs);
    } catch (error) {
      // Another child that is just being forked may hold the fresh copy open for a moment.
      if (nodeCode(error) !== 'ETXTBSY' || delayMs === undefined) {
        if (error instanceof UpgradeError) throw error;
        throw failure(file, args, messageOf(error), error);
      }
      await delay(delayMs);
    }
  }
  throw failure(file, args, 'it was never started');
}

function runOnce(file: string, args: readonly string[], limitMs: number): Promise<ProgramAnswer> {
  return new Promise((resolve, reject) => {
    const env = Object.fromEntries(
      PASSED_ON.flatMap((name) => {
        const value = process.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const child = spawn(file, [...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const give = (found: string): void => {
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      reject(failure(file, args, found));
    };
    const timer = setTimeout(() => give(`it did not end within ${limitMs} ms`), limitMs);
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text;
        if (texts[name].length > LONGEST_OUTPUT) give('it says too much');
      });
    }
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...texts });
    });
  });
}

/**
 * Asks a program which release it is.
 *
 * @returns Undefined when it does not say.
 */
export async function askVersion(file: string, limitMs: number): Promise<string | undefined> {
  const { stdout } = await runProgram(file, ['--version'], limitMs);
  return /^rancher-wins version ([\x21-\x7e]{1,100})\s*$/.exec(stdout)?.[1];
}

function refusal(file: string, found: string): UpgradeError {
  return new UpgradeError('refused', `cannot take ${file} for a program: ${found}`);
}

function failure(
  file: string,
  args: readonly string[],
  found: string,
  cause?: unknown,
): UpgradeError {
  const message = `cannot run ${[file, ...args].join(' ')}: ${found}`;
  return new UpgradeError('programFailed', message, { cause });
}
