import { escapeText, EXIT, SERVICE_NAME } from '@wins/base';
import { existsSync } from 'node:fs';
import { open, readlink, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { DaemonCallError } from '../client/daemon-call-error.js';
import { keptEvents } from '../doctor/host-facts.js';
import { jsonObject } from '../kernel/json-object.js';
import { createTerminalLog } from '../kernel/log/terminal-log.js';
import { serviceLogFolder } from '../kernel/log/windows-service-log.js';
import {
  RecordFilter,
  type FilteredRecord,
  type FilterOptions,
} from '../kernel/log/record-filter.js';
import { logFiles, logTail } from '../support/log-tail.js';
import { pipeOfConfig } from '../client/running-daemon.js';

export interface LogsOptions extends Pick<FilterOptions, 'since' | 'until' | 'level' | 'lines'> {
  readonly config?: string | undefined;
  readonly follow: boolean;
}

/** Default of `lines` without a period. */
const FIRST_LINES = 100;
/** Only the end of a larger log is read. */
const MOST_BYTES = 4 * 1024 * 1024;
const EVERY_MS = 500;

export async function showLogs(options: LogsOptions): Promise<number> {
  const filter = new RecordFilter(options);
  const files = await filesOf(options);
  const accepts = acceptsLine(filter);
  const print = printer();
  const names = await files();
  const { bytes, isCut, newestBytes } = await logTail(names, MOST_BYTES);
  // A follower prints a line once the line is whole.
  const endBytes = options.follow ? bytes.lastIndexOf('\n') + 1 : bytes.length;
  const text = bytes.toString('utf8', 0, endBytes);
  const lines = text.split('\n').filter((line) => line !== '' && accepts(line));
  const wanted = options.lines ?? (filter.hasPeriod ? Infinity : FIRST_LINES);
  for (const line of lines.slice(Math.max(0, lines.length - wanted))) print(line);
  if (isCut && wanted > lines.length)
    process.stderr.write(
      `wins: older lines were left out: only the last ${MOST_BYTES / 2 ** 20} MiB are read\n`,
    );
  if (options.follow)
    await follow(files, names.at(-1), newestBytes - (bytes.length - endBytes), (line) => {
      if (accepts(line)) print(line);
    });
  return EXIT.server.ok;
}

async function filesOf({ config }: LogsOptions): Promise<() => Promise<readonly string[]>> {
  if (process.platform === 'win32') {
    const folder = serviceLogFolder();
    if (existsSync(folder)) return () => logFiles(folder, SERVICE_NAME);
    const found = `cannot read the log: ${folder} does not exist because the service has not run yet`;
    throw new DaemonCallError(found, EXIT.server.unavailable, {
      nextStep: `start it: sc.exe start ${SERVICE_NAME}; "wins status" shows whether it is registered`,
    });
  }
  const file = await standardErrorOf(await pipeOfConfig(config));
  return () => Promise.resolve([file]);
}

/** Returns the file that receives the daemon's standard error. @throws DaemonCallError when it is not a regular file. */
async function standardErrorOf(listen: string): Promise<string> {
  const events = await keptEvents({ server: listen }, new Date(0));
  const pid = Number(events.findLast(({ type }) => type === 'started')?.['pid']);
  const { unavailable } = EXIT.server;
  if (Number.isNaN(pid)) {
    const found = 'cannot find the log: no start of a daemon is among the events';
    throw new DaemonCallError(found, unavailable, {
      nextStep: 'look where its supervisor keeps the log',
    });
  }
  const file = await readlink(`/proc/${pid}/fd/2`).catch(() => undefined);
  if (file !== undefined && (await stat(file).catch(() => undefined))?.isFile() === true)
    return file;
  const where = file === undefined ? 'has ended, or belongs to another user' : `logs to ${file}`;
  throw new DaemonCallError(
    `cannot read the log: the daemon (process ${pid}) ${where}`,
    unavailable,
    { nextStep: `if systemd started it: journalctl -f _PID=${pid}` },
  );
}

function printer(): (line: string) => void {
  const terminal = process.stdout.isTTY ? createTerminalLog(process.stdout) : undefined;
  return (line) => {
    if (terminal !== undefined && jsonObject(line) !== undefined) terminal.write(line);
    else process.stdout.write(`${escapeText(line)}\n`);
  };
}

/** A line that is no record, such as one of a stack, goes with the record before it. */
function acceptsLine(filter: RecordFilter): (line: string) => boolean {
  let isAccepted = true;
  return (line) => {
    const record = jsonObject(line) as FilteredRecord | undefined;
    if (record !== undefined) isAccepted = filter.accepts(record);
    return isAccepted;
  };
}

async function follow(
  files: () => Promise<readonly string[]>,
  newest: string | undefined,
  from: number,
  print: (line: string) => void,
) {
  if (newest === undefined)
    throw new DaemonCallError(
      'cannot follow the log: it does not exist yet',
      EXIT.server.unavailable,
    );
  let [file, offset] = [newest, from];
  while (process.stdout.writable) {
    await delay(EVERY_MS);
    // Listed before the file is read: once there is a next file, nothing is added to this one.
    const all = await files();
    const { text, end } = await linesFrom(file, offset);
    for (const line of text.split('\n')) if (line !== '') print(line);
    offset = end;
    const next = all[all.indexOf(file) + 1];
    if (next !== undefined && text === '') [file, offset] = [next, 0];
  }
}

async function linesFrom(name: string, from: number): Promise<{ text: string; end: number }> {
  await using file = await open(name, 'r');
  const { size } = await file.stat();
  const start = size < from ? 0 : from;
  const bytes = Buffer.alloc(Math.min(size - start, MOST_BYTES));
  await file.read(bytes, 0, bytes.length, start);
  const length = bytes.lastIndexOf('\n') + 1;
  return { text: bytes.toString('utf8', 0, length), end: start + length };
}
