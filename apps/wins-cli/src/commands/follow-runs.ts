/** Commands for detached runs, which outlive this program and the daemon. */
import type { RunReadOptions } from '@wins/wins-api';
import { EXIT } from '@wins/base';
import { withDaemonOfRun, type DaemonOptions } from '../daemon/connect-daemon.js';
import { reportExit } from '../exit-status-of.js';
import { forEachName } from './for-each-name.js';
import { OutputPrinter, type PrintOptions } from './print-output.js';

export interface NamedRunOptions extends DaemonOptions {
  readonly name: string;
}

export interface NamedRunsOptions extends DaemonOptions {
  readonly names: readonly string[];
}

interface OutputOptions extends NamedRunOptions, PrintOptions, RunReadOptions {
  /** Ends before the first output of this time or later. Later output does not count, because clocks jump. */
  readonly until?: Date | undefined;
}

export interface LogsOptions extends OutputOptions {
  readonly tail?: number | undefined;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export function showRunLogs({ tail, stdout, stderr, ...options }: LogsOptions): Promise<number> {
  const only = stdout === stderr ? undefined : stdout ? 'stdout' : 'stderr';
  return printRun({ ...options, tailLines: tail, only }, () => EXIT.client.ok);
}

export function attachRun(options: NamedRunOptions): Promise<number> {
  return printRun({ ...options, follow: true, tailLines: 0 }, reportExit);
}

export async function waitForRun(options: NamedRunOptions): Promise<number> {
  const exit = await withDaemonOfRun(options, ({ runs }, onDaemonChange) =>
    runs.wait(options.name, { onDaemonChange }),
  );
  return reportExit(options.name, exit, options.quiet);
}

/** `startAgain` starts runs that do not live, also one that waits for its restart. `restart` ends living runs, and starts all. */
export function forEachRun(verb: 'remove' | 'restart' | 'startAgain') {
  return async (options: NamedRunsOptions): Promise<number> => {
    await forEachName(options.names, (name) =>
      withDaemonOfRun<unknown>(options, ({ runs }) => runs[verb](name)),
    );
    return EXIT.client.ok;
  };
}

async function printRun(options: OutputOptions, status: typeof reportExit): Promise<number> {
  const { name, follow, until, quiet } = options;
  using printer = new OutputPrinter(options);
  if (follow === true) printer.out.watch();
  const { gone: signal } = printer.out;
  /** Continues after the last part when the task is repeated. */
  let rest: RunReadOptions = options;
  const exit = await withDaemonOfRun(options, async ({ runs }, onDaemonChange) => {
    try {
      for await (const part of runs.read(name, { ...rest, signal, onDaemonChange })) {
        if (part.stream === 'end') return part;
        if (until !== undefined && 'writtenAt' in part && part.writtenAt >= until) break;
        await printer.print(part);
        const bytes = typeof part.bytes === 'number' ? part.bytes : part.bytes.length;
        rest = { ...rest, offset: part.offset + bytes, since: undefined, tailLines: undefined };
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return undefined;
  });
  return signal.aborted ? EXIT.client.readerGone : status(name, exit, quiet);
}
