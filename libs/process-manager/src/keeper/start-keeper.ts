import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { keeperRecord, type KeeperRecord } from '../supervision/run-record.js';

/** Time limit for the start. A Node program takes up to a second, and several seconds on a fully loaded host. */
const START_MS = 20_000;
const MAX_LINE_BYTES = 4096;

/** Command line and complete environment of a keeper process. */
export interface KeeperCommand {
  /** Absolute path of a program that calls {@link serveKeeper}. */
  readonly file: string;
  readonly args: readonly string[];
  /** The only variables of the keeper. Runs get their variables with their commands. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a program outside the session or job of this process, without a window or input. */
export type StartKeeper = (command: KeeperCommand) => {
  readonly stdout: Readable;
  readonly kill: () => void;
};

/**
 * Waits until the keeper serves.
 *
 * @param start - Default: in a session of its own.
 * @throws Error if the program cannot be started, ends, or prints something else within 20 s.
 */
export async function startKeeper(
  command: KeeperCommand,
  start: StartKeeper = startInSession,
): Promise<KeeperRecord> {
  let child: ReturnType<StartKeeper> | undefined;
  try {
    child = start(command);
    return await firstLine(child.stdout, AbortSignal.timeout(START_MS));
  } catch (error) {
    child?.kill();
    throw error;
  } finally {
    child?.stdout.destroy();
  }
}

const startInSession: StartKeeper = ({ file, args, env }) => {
  const child = spawn(file, args, {
    detached: true,
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.unref();
  // A child that could not be started may have no output. It reports its error in the next tick.
  const stdout = child.pid === undefined ? new PassThrough() : child.stdout;
  child.on('error', (error) => stdout.destroy(error));
  return { stdout, kill: () => child.kill('SIGKILL') };
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
