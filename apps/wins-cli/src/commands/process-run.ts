/** This command does not call `runProcess` of the client library, which hides the run's name. Messages and a forced end need the name. */
import type {
  HeldProcess,
  ProcessName,
  RunExit,
  RunLimitsMessage,
  WinsClient,
  WinsClientError,
} from '@wins/wins-api';
import { escapeText, EXIT, messageOf, UsageError } from '@wins/base';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import { reportExit } from '../exit-status-of.js';
import { parseExposes, splitListValue } from '../options/list-value.js';
import { leaveAtOnce, listenForInterruptions } from '../interruptions.js';
import { OutputPrinter } from './print-output.js';
import { followFiles, readFiles, readMounts } from '../delivery/mounted-files.js';
import { digestProgram } from '../delivery/program-digests.js';

export interface RunOptions extends DaemonOptions {
  readonly path: string;
  readonly args?: string | undefined;
  readonly exposes?: string | undefined;
  readonly envs?: string | undefined;
  /** Further variables, each as `NAME=value`. */
  readonly env?: readonly string[];
  readonly dir?: string | undefined;
  /** In bytes. */
  readonly memory?: number | undefined;
  readonly cpus?: number | undefined;
  readonly pids?: number | undefined;
  /** Files as `PATH=NAME`; the run receives their content and later changes. */
  readonly 'mount-file'?: readonly string[];
  readonly replace?: boolean;
  /** Words after `--`. */
  readonly rest?: readonly string[] | undefined;
  readonly detach: boolean;
  /** With `detach`. Default: the daemon chooses. */
  readonly name?: string | undefined;
  /** With `detach`. Default: never restarted. */
  readonly restart?: string | undefined;
  /** With `detach`: removes the run when it ends. */
  readonly rm: boolean;
}

/** After this time the daemon kills a run that was asked to end. */
const GRACE = '10 s';
/** Limits the wait for a forced end, because the daemon may be frozen, or too old to kill runs on request. */
const FORCED_WITHIN_MS = 2000;

function readList<T>(option: string, text: string | undefined, read: (entries: string[]) => T): T {
  try {
    return read(text === undefined ? [] : splitListValue(text));
  } catch (cause) {
    throw new UsageError(`--${option}: ${messageOf(cause)}`, { cause });
  }
}

/** Returns `Limits` only if the user sets a limit, so that daemons without support for limits work too. */
function limitsOf({ memory = 0, cpus = 0, pids = 0 }: RunOptions): { limits?: RunLimitsMessage } {
  if (memory === 0 && cpus === 0 && pids === 0) return {};
  const cpuMillis = Math.round(cpus * 1000);
  return { limits: { memoryBytes: memory, cpuMillis, pids } };
}

/** On Windows a path without an extension also names its .exe file, as in the Go release. */
function programAt(file: string): string {
  if (process.platform !== 'win32' || path.extname(file) !== '' || existsSync(file)) return file;
  const program = `${file}.exe`;
  return existsSync(program) ? program : file;
}

export async function runProcess(options: RunOptions): Promise<number> {
  if (options.path === '') throw new UsageError('--path is empty; wanted the path of a program');
  if (options.name !== undefined && !options.detach) throw new UsageError('--name needs --detach');
  if (options.restart !== undefined && !options.detach)
    throw new UsageError('--restart needs --detach');
  // A run with "always" that was stopped stays so, also when the daemon starts again.
  const restart = options.restart === 'unless-stopped' ? 'always' : options.restart;
  if (!/^(?:no|always|on-failure(?::[1-9]\d{0,8})?)$/.test(restart ?? 'no'))
    throw new UsageError(
      `--restart: found "${restart}"; wanted no, always, unless-stopped, on-failure or on-failure:N`,
    );
  if (options.rm && !options.detach)
    throw new UsageError('--rm needs --detach: no other run is kept when it has ended');
  if (options.rm && restart !== undefined && restart !== 'no')
    throw new UsageError('--rm cannot be combined with --restart');
  const mounts = readMounts(options['mount-file']);
  if (mounts.length > 0 && options.detach)
    throw new UsageError(
      '--mount-file cannot be combined with --detach: no client would renew the files',
    );
  const program = programAt(path.resolve(options.path));
  const exactArguments = options.rest;
  if (exactArguments !== undefined && options.args !== undefined)
    throw new UsageError('--args cannot be combined with arguments after --');
  const request = {
    path: program,
    args: exactArguments
      ? [...exactArguments]
      : readList('args', options.args, (entries) => entries),
    exposes: readList('exposes', options.exposes, parseExposes),
    envs: [...readList('envs', options.envs, (entries) => entries), ...(options.env ?? [])],
    replace: options.replace === true,
    ...limitsOf(options),
    // As in the Go client, an empty folder counts as absent.
    dir: options.dir ? path.resolve(options.dir) : path.dirname(program),
  };
  const { sha1, sha256 } = await digestProgram(program);
  return withDaemon(options, async (client, onDaemonChange) => {
    const onWarning = (text: string): void => {
      onDaemonChange('serving');
      if (!options.quiet) process.stderr.write(`wins: warning: ${escapeText(text)}\n`);
    };
    const files = await readFiles(mounts);
    const digests = { checksum: sha1, checksumSha256: sha256 };
    const outlivesDaemon = !options.detach && mounts.length === 0;
    const whole = {
      ...request,
      files,
      ...digests,
      outlivesDaemon,
      keep: options.detach
        ? { name: options.name ?? '', restart: restart ?? '', maxAgeMs: options.rm ? 0 : undefined }
        : undefined,
    };
    let leaseMs = 0;
    const onLease = (granted: number): void => void (leaseMs = granted);
    const name = await client.startProcess(whole, { onWarning, onLease });
    onDaemonChange('serving');
    if (options.detach) {
      process.stdout.write(`${escapeText(name.value)}\n`);
      return EXIT.client.ok;
    }
    const run = client.holdProcess(name, { leaseMs });
    if (mounts.length === 0) return follow(client, name, run, options.quiet);
    using _files = followFiles(client, name, { mounts, files }, onWarning);
    return await follow(client, name, run, options.quiet);
  });
}

/** Prints the output until the run ends. A signal, or a reader that closes the stream, stops the run. */
async function follow(client: WinsClient, name: ProcessName, run: HeldProcess, quiet: boolean) {
  using printer = new OutputPrinter({ quiet });
  const { gone } = printer.out;
  let isOver = false;
  const stop = (): void => void run.end();
  const say = (text: string): void => {
    if (!quiet) process.stderr.write(`wins: ${escapeText(text)}\n`);
  };
  const asked = (): void => {
    stop();
    say(
      `asking ${name.value} to end; it will be killed after ${GRACE}. Press Ctrl-C again to kill it now`,
    );
  };
  const forced = (): void => {
    say(`killing ${name.value}`);
    client.runs.stop(name, { force: true }).catch(() => isOver || leaveAtOnce());
    setTimeout(leaveAtOnce, FORCED_WITHIN_MS).unref();
  };
  using _interruptions = listenForInterruptions(asked, forced);
  gone.addEventListener('abort', stop, { once: true });
  try {
    let exit: RunExit | undefined;
    for await (const part of run.output) {
      if (part.stream === 'end') exit = part;
      // A run whose reader has gone is being stopped, and its exit follows.
      else await printer.print(part);
    }
    const notCleanedUp = await run.end();
    if (gone.aborted) return EXIT.client.readerGone;
    if (exit === undefined) {
      // The Go daemon reports no exit code, so the end of the output counts as success. The daemon cleans up when the lease ends.
      if (notCleanedUp !== undefined) say(cleanUpFailure(name, notCleanedUp));
      return EXIT.client.ok;
    }
    return reportExit(name.value, exit, quiet);
  } finally {
    isOver = true;
    gone.removeEventListener('abort', stop);
  }
}

function cleanUpFailure({ value }: ProcessName, { details }: WinsClientError): string {
  return (
    `${value} has ended, and the daemon failed to clean up after it: ${details}; ` +
    'some of its firewall rules or child processes may be left on the host'
  );
}
