import { onSystemDrive, quoteText } from '@wins/base';
import path from 'node:path';
import { AgentError } from '../agent-error.js';
import type { PlanFile } from '../plan/plan.js';
import type { PlanFiles, PendingPlanFile } from '../ports.js';

/** Number of files recorded per flush. A flush takes longer than writing a small file. */
const FILES_OF_A_GROUP = 100;

/** Larger files gain little from writing ahead, and would need much disk space at once. */
const MAX_AHEAD_BYTES = 16 * 1024;

export interface FileAction {
  readonly path: string;
  readonly operation: 'write' | 'delete';
}

export interface FileSteps {
  readonly files: PlanFiles;
  /** Gets at most 100 files, and is awaited before the first of them changes. A rejection ends the work. */
  readonly onFiles: (actions: readonly FileAction[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Keeps the order of the plan. Files before a failure stay changed.
 * @throws AgentError `fileFailed`; the reason of the signal; the rejection of `onFiles`.
 */
export async function reconcileFiles(
  wanted: readonly PlanFile[],
  { files, onFiles, signal }: FileSteps,
): Promise<void> {
  for (let first = 0; first < wanted.length; first += FILES_OF_A_GROUP) {
    signal.throwIfAborted();
    const group = wanted.slice(first, first + FILES_OF_A_GROUP);
    const { steps, failure } = prepared(group, first, files);
    await onFiles(steps.map(({ action }) => action));
    await filesInOrder(steps, signal);
    if (failure !== undefined) throw failure;
  }
}

/** Stops at the first unusable file, and returns its failure. */
function prepared(group: readonly PlanFile[], first: number, files: PlanFiles) {
  const steps: (FileStep & { readonly action: FileAction })[] = [];
  try {
    for (const [index, file] of group.entries()) {
      const operation = file.action === 'delete' ? 'delete' : 'write';
      const prepare = operation === 'delete' ? deletion : making;
      const step = prepare(file, first + index, files);
      if (step !== undefined) steps.push({ action: { path: file.path, operation }, ...step });
    }
  } catch (error) {
    return { steps, failure: error as AgentError };
  }
  return { steps };
}

function deletion(file: PlanFile, index: number, files: PlanFiles): FileStep | undefined {
  // As in the Go agent, an empty path removes nothing.
  if (file.path === '') return undefined;
  const location = absolute(file, index);
  if (path.parse(location).root === location)
    throw failed(file, index, 'the root', 'what lies below it');
  return { run: () => files.remove(location, file.directory) };
}

function making(file: PlanFile, index: number, files: PlanFiles): FileStep {
  const location = absolute(file, index);
  const mode = modeOf(file, index);
  const rights = { mode, uid: file.uid, gid: file.gid };
  if (file.directory) return { run: () => files.ensureFolder(location, rights) };
  const content = contentOf(file, index);
  const run = (): Promise<void> => files.writeFile(location, content, rights);
  if (content.length > MAX_AHEAD_BYTES || files.writeAhead === undefined) return { run };
  const begin = async () => files.writeAhead?.(location, content, rights);
  return { run, ahead: { owner: `${file.uid}:${file.gid}`, begin } };
}

function absolute(file: PlanFile, index: number): string {
  const isUsable = path.isAbsolute(file.path) && !file.path.includes('\0');
  if (isUsable) return path.normalize(onSystemDrive(file.path));
  const found = path.isAbsolute(file.path) ? 'a NUL character in its path' : 'a relative path';
  throw failed(file, index, file.path === '' ? 'no path' : found, 'an absolute path');
}

function modeOf(file: PlanFile, index: number): number {
  const text = file.permissions ?? '';
  if (text === '') return file.directory ? 0o755 : 0o600;
  if (!/^[0-7]{1,10}$/.test(text)) {
    const found = `the permissions ${quoteText(text, { maxLength: 32 })}`;
    throw failed(file, index, found, 'octal digits such as 0644');
  }
  // Plans may not set the set-user-ID, set-group-ID and sticky bits.
  return Number.parseInt(text, 8) & 0o777;
}

function contentOf(file: PlanFile, index: number): Buffer {
  // Go ignores line ends in base64, but nothing else.
  const text = (file.content ?? '').replaceAll(/[\r\n]/g, '');
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (!isBase64) throw failed(file, index, 'content that is not base64', 'base64 with padding');
  return Buffer.from(text, 'base64');
}

function failed(file: PlanFile, index: number, found: string, wanted: string): AgentError {
  const what = `file ${index} of the plan, ${quoteText(file.path)}`;
  const tried = file.action === 'delete' ? 'remove' : 'make';
  return new AgentError('fileFailed', `cannot ${tried} ${what}: found ${found}; wanted ${wanted}`);
}

/** Maximum number of files prepared at a time, and of concurrent system calls. */
const FILES_AHEAD = 4;

export interface FileStep {
  readonly run: () => Promise<void>;
  readonly ahead?: FileAhead | undefined;
}

export interface FileAhead {
  /**
   * Owner of the file, as `uid:gid`. If the previous step has the same `owner`, this file can be prepared while that step still
   * runs. Otherwise the preparation waits until all earlier steps have ended, because they could affect it.
   */
  readonly owner: string;
  /** Prepares a file; then call `place` instead of `run`. Undefined if `run` is needed. Never rejects. */
  readonly begin: () => Promise<PendingPlanFile | undefined>;
}

/**
 * Runs steps in order, up to the first failure. Removes files that were prepared for the remaining steps.
 * @throws the first failure of a step; the reason of the signal.
 */
export async function filesInOrder(steps: readonly FileStep[], signal: AbortSignal): Promise<void> {
  const ends: Promise<void>[] = [];
  let last = Promise.resolve();
  try {
    for (const [index, step] of steps.entries()) {
      const owner = step.ahead?.owner;
      const isAhead = owner !== undefined && owner === steps[index - 1]?.ahead?.owner;
      await (isAhead ? ends[index - FILES_AHEAD] : last);
      last = inTurn(step, last, signal);
      // Prevent an unhandled rejection: the next step or the end of this function awaits the promise later.
      last.catch(() => undefined);
      ends.push(last);
    }
  } finally {
    // Each step rejects with the failure of the step before, so this throws the first failure.
    await last;
  }
}

async function inTurn({ run, ahead }: FileStep, before: Promise<void>, signal: AbortSignal) {
  const pending = signal.aborted ? undefined : await ahead?.begin();
  try {
    await before;
    signal.throwIfAborted();
  } catch (error) {
    await pending?.discard();
    throw error;
  }
  await (pending === undefined ? run() : pending.place());
}
