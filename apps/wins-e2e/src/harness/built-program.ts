import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { WINS } from './workspace.js';

/** How a built program ended and what it printed. */
export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A built program that runs. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once its standard output contains the text. */
  printed(text: string): Promise<void>;
}

/** Starts `wins` with these arguments. */
export function startWins(args: readonly string[], environment: NodeJS.ProcessEnv): RunningProgram {
  const child = spawn(process.execPath, [WINS, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  const outcome = new Promise<Outcome>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: text(stderr) });
    });
  });
  return {
    child,
    outcome,
    stdout: () => text(stdout),
    stderr: () => text(stderr),
    printed: async (wanted) => {
      while (!text(stdout).includes(wanted)) {
        const ended = await Promise.race([
          once(child.stdout, 'data').then(() => false),
          outcome.then(() => true),
        ]);
        if (ended && !text(stdout).includes(wanted)) {
          throw new Error(`ended without printing ${wanted}; stderr: ${text(stderr)}`);
        }
      }
    },
  };
}

/** Runs `wins` with these arguments to its end. */
export function runWins(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Outcome> {
  return startWins(args, environment).outcome;
}
