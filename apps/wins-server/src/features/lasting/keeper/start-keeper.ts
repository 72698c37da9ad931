import { ProcessError } from '@wins/process-manager';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { DetachedProcesses } from '../../../operating-system.js';
import { isSea } from 'node:sea';
import { keeperRecord, RunFolders, type KeeperRecord } from '../run-folders.js';
import { copyForKeeper, ownExecutable } from './keeper-program.js';

/** Time limit for the start. A Node program takes up to a second, and several seconds on a fully loaded host. */
const START_MS = 20_000;
const MAX_LINE_BYTES = 4096;
/** The only variables of the daemon that a keeper receives. Runs get their variables with their commands. */
const KEPT_VARIABLES = ['PATH', 'TZ', 'SystemRoot', 'ProgramData', 'TEMP'];

export interface KeeperStart {
  readonly program: string;
  /** SHA-1 of `program`. */
  readonly release: string;
  /** Existing private folder. */
  readonly stateDirectory: string;
  /** Starts the keeper. Default: in a session of its own. */
  readonly processes: Pick<DetachedProcesses, 'start'> | undefined;
}

/**
 * Waits until the keeper serves.
 *
 * @throws ProcessError `stateUnavailable`.
 */
export async function startKeeper({
  program,
  release,
  stateDirectory,
  processes,
}: KeeperStart): Promise<KeeperRecord> {
  const command = [...(isSea() ? [] : [program]), 'srv', 'keep', '--state', stateDirectory];
  const environment = KEPT_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env = Object.fromEntries(environment);
  let child: ReturnType<DetachedProcesses['start']> | undefined;
  try {
    let file = process.execPath;
    if (isSea()) {
      const { folder } = new RunFolders(stateDirectory);
      file = processes === undefined ? ownExecutable() : await copyForKeeper(folder, release);
    }
    child = (processes ?? ofSession).start({ file, args: command, env });
    return await firstLine(child.stdout, AbortSignal.timeout(START_MS));
  } catch (cause) {
    child?.kill();
    const message = 'cannot start a run: no keeper of runs could be started';
    throw new ProcessError('stateUnavailable', message, { cause });
  } finally {
    child?.stdout.destroy();
  }
}

const ofSession: Pick<DetachedProcesses, 'start'> = {
  start: ({ file, args, env }) => {
    const child = spawn(file, args, {
      ...{ detached: true, cwd: '/', env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.unref();
    return { stdout: child.stdout, kill: () => child.kill('SIGKILL') };
  },
};

async function firstLine(
  output: NodeJS.ReadableStream,
  signal: AbortSignal,
): Promise<KeeperRecord> {
  let text = '';
  const ended = once(output, 'end', { signal }).then(() => undefined);
  ended.catch(() => undefined);
  while (!text.includes('\n')) {
    const chunk = await Promise.race([once(output, 'data', { signal }), ended]);
    text += String(chunk?.[0] ?? '\n');
    if (text.length > MAX_LINE_BYTES) break;
  }
  return keeperRecord.parse(JSON.parse(text));
}
