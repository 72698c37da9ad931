import type { ProcessExit, ProcessName, WinsClient } from '@wins/wins-api';
import { escapeText, EXIT, UsageError } from '@wins/wins-program';
import path from 'node:path';
import { daemonAddress, withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { exitStatusOf } from '../exit-status-of.js';
import { parseExposes } from '../options/expose-list.js';
import { listenForInterruptions } from '../interruptions.js';
import { ListValueError, splitListValue } from '../options/list-value.js';
import { writeAll } from '../write-all.js';
import { digestProgram } from '../delivery/program-digests.js';

export interface RunOptions extends DaemonOptions {
  readonly quiet: boolean;
  readonly path: string;
  readonly args?: string | undefined;
  readonly exposes?: string | undefined;
  readonly envs?: string | undefined;
  readonly dir?: string | undefined;
  /** What follows `--`. */
  readonly rest?: readonly string[] | undefined;
}

/** What a reason does not say by itself. */
const REMARKS: Readonly<Record<string, string | undefined>> = {
  daemonStopping: ' (the daemon was stopped, restarted or replaced by another release)',
};

function readList<T>(option: string, text: string | undefined, read: (entries: string[]) => T): T {
  try {
    return read(text === undefined ? [] : splitListValue(text));
  } catch (error) {
    if (!(error instanceof ListValueError)) throw error;
    throw new UsageError(`--${option}: ${error.message}`, { cause: error });
  }
}

/** `wins cli prc run`: runs a program of the host and follows it to its end. */
export async function runProcess(options: RunOptions): Promise<number> {
  if (options.path === '') throw new UsageError('--path is empty; wanted the path of a program');
  const program = path.resolve(options.path);
  const exactArguments = options.rest;
  if (exactArguments !== undefined && options.args !== undefined) {
    throw new UsageError('arguments come from --args or from what follows --, not from both');
  }
  const request = {
    Path: program,
    Args: exactArguments
      ? [...exactArguments]
      : readList('args', options.args, (entries) => entries),
    Exposes: readList('exposes', options.exposes, parseExposes),
    Envs: readList('envs', options.envs, (entries) => entries),
    // As with the Go client, an empty folder is none.
    Dir: options.dir ? path.resolve(options.dir) : path.dirname(program),
  };
  const { sha1, sha256 } = await digestProgram(program);
  return withDaemon(daemonAddress(options), async (client) => {
    const name = await client.startProcess({ ...request, Checksum: sha1, ChecksumSHA256: sha256 });
    return follow(client, name, options.quiet);
  });
}

/** Copies the output until the process has ended; a signal to us, or a reader that left, stops it. */
async function follow(client: WinsClient, name: ProcessName, quiet: boolean): Promise<number> {
  const lease = client.keepAlive(name);
  const reader = { gone: false };
  const stop = (): void => void lease.end().catch(() => undefined);
  const readerLeft = (): void => {
    reader.gone = true;
    stop();
  };
  // The first stops the process and reports how it ended; the second does not wait for that.
  using _interruptions = listenForInterruptions(stop);
  process.stdout.once('close', readerLeft);
  try {
    let exit: ProcessExit | undefined;
    for await (const { Options: message } of client.waitProcess(name)) {
      switch (message?.$case) {
        case 'StdOut':
          if (!reader.gone && !(await writeAll(process.stdout, message.value))) readerLeft();
          break;
        case 'StdErr':
          await writeAll(process.stderr, message.value);
          break;
        case 'Skipped':
          if (!quiet) {
            process.stderr.write(
              `wins: ${message.value.Bytes} bytes of earlier output were dropped\n`,
            );
          }
          break;
        case 'Exit':
          exit = message.value;
          break;
        case undefined: // an arm that a newer daemon knows
          break;
      }
    }
    const ended = lease.end();
    // What is known of the end does not depend on how the lease ends.
    await (exit === undefined && !reader.gone ? ended : ended.catch(() => undefined));
    if (reader.gone) return EXIT.client.readerGone;
    // The Go daemon does not say how a process ended: the end of its output counts as success.
    if (exit === undefined) return EXIT.client.ok;
    if (!quiet && exit.Reason !== 'exited') {
      process.stderr.write(
        `wins: ${escapeText(`${name.Value} was stopped: ${exit.Reason}`)}${REMARKS[exit.Reason] ?? ''}\n`,
      );
    }
    return exitStatusOf(exit, process.platform);
  } finally {
    process.stdout.off('close', readerLeft);
  }
}
