import { quoteText } from '@wins/wins-program';
import path from 'node:path';
import { AgentError } from '../agent-error.js';
import type { PlanFile } from '../plan/plan.js';
import type { PlanFiles } from '../ports.js';

/** What reconciling needs from the pass. */
export interface FileSteps {
  readonly files: PlanFiles;
  /** Awaited before each file; when it rejects, nothing more is done. */
  readonly onFile: (path: string, action: 'write' | 'delete') => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Makes and removes the files of a plan, in the order of the list. What was done before a failure stays.
 *
 * @throws AgentError `fileFailed`; the reason of the signal; what `onFile` rejects with.
 */
export async function reconcileFiles(
  wanted: readonly PlanFile[],
  { files, onFile, signal }: FileSteps,
): Promise<void> {
  for (const [index, file] of wanted.entries()) {
    signal.throwIfAborted();
    const act =
      file.action === 'delete' ? deletion(file, index, files) : making(file, index, files);
    if (act === undefined) continue;
    await onFile(file.path, file.action === 'delete' ? 'delete' : 'write');
    await act();
  }
}

type Act = () => Promise<void>;

function deletion(file: PlanFile, index: number, files: PlanFiles): Act | undefined {
  // Where there is no name there is nothing to remove, and the plan goes on.
  if (file.path === '') return undefined;
  const place = absolute(file, index);
  if (path.parse(place).root === place) throw failed(file, index, 'the root', 'what lies below it');
  return () => files.remove(place, file.directory);
}

function making(file: PlanFile, index: number, files: PlanFiles): Act {
  const place = absolute(file, index);
  const mode = modeOf(file, index);
  const rights = { mode, uid: file.uid, gid: file.gid };
  if (file.directory) return () => files.ensureFolder(place, rights);
  const content = contentOf(file, index);
  return () => files.writeFile(place, content, rights);
}

function absolute(file: PlanFile, index: number): string {
  const isUsable = path.isAbsolute(file.path) && !file.path.includes('\0');
  if (isUsable) return path.normalize(file.path);
  throw failed(file, index, file.path === '' ? 'no path' : 'such a path', 'an absolute path');
}

function modeOf(file: PlanFile, index: number): number {
  const text = file.permissions ?? '';
  if (text === '') return file.directory ? 0o755 : 0o600;
  if (!/^[0-7]{1,10}$/.test(text)) {
    const found = `the permissions ${quoteText(text, { maxLength: 32 })}`;
    throw failed(file, index, found, 'octal digits such as 0644');
  }
  // The bits that set the user or the group of whoever runs a file, and the sticky one, are not granted to plans.
  return Number.parseInt(text, 8) & 0o777;
}

function contentOf(file: PlanFile, index: number): Buffer {
  // Go ignores the ends of lines in base64, and nothing else.
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
