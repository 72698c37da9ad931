import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { WINS } from './workspace.js';

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface Watched {
  readonly outcome: Promise<Outcome>;
  stdout(): string;
  stderr(): string;
  printed(text: string): Promise<void>;
  /** Resolves once standard error contains the text this many times. */
  said(text: string, times?: number): Promise<void>;
}

export interface RunningProgram extends Watched {
  readonly child: ChildProcess;
}

/** A command in a thread. */
export interface RunningCommand extends Watched {
  readonly isOver: boolean;
  end(): void;
}

export function startWins(args: readonly string[], environment: NodeJS.ProcessEnv): RunningProgram {
  return startProgram(process.execPath, [WINS, ...args], environment);
}

/** Repeats `start` once if it fails with `UNKNOWN`, because Wine sometimes refuses to start a program. */
function surely<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'UNKNOWN') throw error;
    return start();
  }
}

export function startProgram(
  file: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { cwd, uid, gid }: Pick<SpawnOptions, 'cwd' | 'uid' | 'gid'> = {},
): RunningProgram {
  const child = surely(() =>
    spawn(file, args, {
      cwd,
      uid,
      gid,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const ended = new Promise<Pick<Outcome, 'code' | 'signal'>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, ...watch(child, ended) };
}

/**
 * Runs a command of the program in a thread of this process, because the start of a process costs a second of a processor under Wine. The thread has
 * words, variables and outputs of its own.
 */
export function startWinsInThread(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): RunningCommand {
  const thread = new Worker(WINS, {
    argv: [...args],
    env: environment,
    stdout: true,
    stderr: true,
  });
  let isOver = false;
  const ended = (async () => {
    const [[code]] = await Promise.all([
      once(thread, 'exit') as Promise<[number]>,
      once(thread.stdout, 'end'),
      once(thread.stderr, 'end'),
    ]);
    isOver = true;
    return { code, signal: null };
  })();
  return {
    get isOver() {
      return isOver;
    },
    end: () => void thread.terminate(),
    ...watch(thread, ended),
  };
}

function watch(
  program: { readonly stdout: Readable; readonly stderr: Readable },
  ended: Promise<Pick<Outcome, 'code' | 'signal'>>,
): Watched {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  program.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  program.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  const outcome = ended.then((how) => ({
    ...how,
    stdout: Buffer.concat(stdout),
    stderr: text(stderr),
  }));
  const shows = async (
    stream: Readable,
    chunks: Buffer[],
    enough: (text: string) => boolean,
    wanted: string,
  ): Promise<void> => {
    while (!enough(text(chunks))) {
      const ended = await Promise.race([
        once(stream, 'data').then(() => false),
        outcome.then(() => true),
      ]);
      if (ended && !enough(text(chunks))) {
        throw new Error(`ended without printing ${wanted}; stderr: ${text(stderr)}`);
      }
    }
  };
  return {
    outcome,
    stdout: () => text(stdout),
    stderr: () => text(stderr),
    printed: (wanted) => shows(program.stdout, stdout, (shown) => shown.includes(wanted), wanted),
    said: (wanted, times = 1) =>
      shows(program.stderr, stderr, (shown) => shown.split(wanted).length > times, wanted),
  };
}

export function runWins(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  program = WINS,
): Promise<Outcome> {
  return startProgram(process.execPath, [program, ...args], environment).outcome;
}
