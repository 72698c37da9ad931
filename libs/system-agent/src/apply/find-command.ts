import { onSystemDrive, quoteText } from '@wins/base';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { AgentError } from '../agent-error.js';

export interface CommandSearch {
  readonly folder: string;
  readonly searchPath: readonly string[];
  readonly extensions: readonly string[];
  readonly isWindows: boolean;
}

/** Resolves a path to a program; searches `searchPath` for a bare name. @throws AgentError `refused`. */
export async function findCommand(
  command: string,
  { folder, searchPath, extensions, isWindows }: CommandSearch,
): Promise<string> {
  const paths = isWindows ? path.win32 : path.posix;
  if (command.includes('\0')) throw notFound(command, 'it has a NUL character');
  // What looks like an extension may be a part of a name, such as that of `tool-1.2`.
  const given = isWindows && paths.extname(command) === '' ? [] : [''];
  const endings = isWindows ? [...given, ...extensions] : given;
  if (paths.isAbsolute(command)) {
    const location = onSystemDrive(command);
    return (await firstProgram(location, endings)) ?? location;
  }
  // `C:tool` would be relative to the current folder of that drive.
  if (isWindows && command.includes(':')) throw notFound(command, 'it has a drive, but no folder');
  if (command.includes('/') || (isWindows && command.includes('\\'))) {
    const location = paths.resolve(folder, command);
    return (await firstProgram(location, endings)) ?? location;
  }
  for (const entry of searchPath.filter((one) => paths.isAbsolute(one))) {
    const file = await firstProgram(paths.join(entry, command), endings);
    if (file !== undefined) return file;
  }
  throw notFound(command, 'there is no such program in the PATH of the agent');
}

async function firstProgram(location: string, endings: readonly string[]) {
  for (const ending of endings) if (await isProgram(location + ending)) return location + ending;
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

function notFound(command: string, found: string): AgentError {
  const next = 'Name a program in its PATH, or give a path';
  return new AgentError('refused', `cannot run ${quoteText(command)}: ${found}. ${next}`);
}
