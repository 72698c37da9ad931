// Measures the costs of programs while they work, for each program separately.
//
// - Processor time, user and system, of all threads: from /proc/PID/task/*/schedstat, in nanoseconds. For ended programs: from the sum that the
// system keeps for their parent, in steps of 10 ms.
// - Bytes on the JavaScript heap: from heap-report.cjs, which measured programs preload.
// - System calls of all threads: `perf stat -e raw_syscalls:sys_enter`; not measured without perf or the right to use it.
//
// Counting bytes and calls takes time itself. Therefore all the work runs once to measure its time, and a part runs again to count.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const TICK_MS = 10;
const POLL_MS = 2;
const PERF = ['stat', '-x,', '-e', 'raw_syscalls:sys_enter'];

/** Node options that let a program be measured. */
export const MEASURED = ['--require', path.join(import.meta.dirname, 'heap-report.cjs')];

export const canCount = process.platform === 'linux';
const hasPerf = canCount && spawnSync('perf', [...PERF, 'true'], { stdio: 'ignore' }).status === 0;

const reports = mkdtempSync(path.join(tmpdir(), 'wins-bench-reports-'));
process.on('exit', () => rmSync(reports, { recursive: true, force: true }));
process.env.WINS_BENCH_HEAP_FOLDER = reports;

export function processorMs(pid) {
  const tasks = `/proc/${pid}/task`;
  let nanoseconds = 0;
  for (const task of readdirSync(tasks))
    nanoseconds += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]);
  return nanoseconds / 1e6;
}

/** Processor time of a program's first thread, in ms; in Node, this thread runs the event loop. */
export function eventLoopMs(pid) {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1);
  return Number(nanoseconds) / 1e6;
}

export function residentMebibytes(pid) {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** Private memory of a program, in MiB: the memory that its end would free. */
export function ownMebibytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const own = [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)];
  return own.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024;
}

/** Resident memory in MiB. Each shared page is divided by the number of processes that share it. */
export function proportionalMebibytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
}

function processorMsOfEnded() {
  const text = readFileSync('/proc/self/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/**
 * Starts to measure the processor time of each role. The returned function resolves with the time that each role has used since this call, in ms.
 *
 * @param roles - Program to measure for each role: either the PID of a running program, or a {@link Programs}. The latter stands for all programs
 * that are started after this call. The processor time of such a program counts only after the program has ended.
 */
export function beginProcessorTime(roles) {
  const read = () =>
    mapValues(roles, (role) =>
      typeof role === 'number' ? processorMs(role) : processorMsOfEnded(),
    );
  const before = read();
  return async () => mapValues(read(), (after, name) => ({ cpuMs: after - before[name] }));
}

/** Like {@link beginProcessorTime}, but for counts of system calls and heap bytes. */
export async function beginCounts(roles) {
  const running = Object.entries(roles).filter(([, role]) => typeof role === 'number');
  const ofNew = Object.entries(roles).filter(([, role]) => typeof role !== 'number');
  // Counting the heap bytes of another program allocates heap memory in this program. Therefore the count for this program starts last and
  // ends first.
  running.sort(([, a], [, b]) => Number(a === process.pid) - Number(b === process.pid));
  const counters = running.map(([name, pid]) => ({ name, pid, perf: attachPerf(pid) }));
  for (const { pid } of counters) await heapReport(pid);
  for (const { perf } of counters) await perf?.tell('enable');
  const ends = ofNew.map(([name, programs]) => [name, programs.countNew()]);
  return async () => {
    const counts = Object.fromEntries(ends.map(([name, end]) => [name, end()]));
    for (const { perf } of counters) await perf?.tell('disable');
    for (const { name, pid } of counters.toReversed())
      counts[name] = { heapBytes: Number(await heapReport(pid)) };
    for (const { name, perf } of counters) counts[name].systemCalls = await perf?.end();
    return counts;
  };
}

/** Signals a program and returns its report. The first report is empty; the second has the bytes allocated since the first. */
async function heapReport(pid) {
  const file = path.join(reports, String(pid));
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await pause(POLL_MS);
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text;
}

/** Counts the system calls of a program, not of its children, after `tell('enable')`. */
function attachPerf(pid) {
  if (!hasPerf) return undefined;
  const args = [...PERF, '--no-inherit', '--delay=-1', '--control=fd:3,4', `--pid=${pid}`];
  const perf = spawn('perf', args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
  const [, , output, control, answer] = /** @type {import('node:net').Socket[]} */ (
    /** @type {unknown} */ (perf.stdio)
  );
  let text = '';
  output.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  return {
    async tell(word) {
      control.write(`${word}\n`);
      await once(answer, 'data');
    },
    async end() {
      perf.kill('SIGINT');
      await once(perf, 'close');
      return systemCallsIn(text);
    },
  };
}

let started = 0;

/**
 * Wraps a command so that its costs are counted. The count of system calls includes those that Node makes while it starts. The count of heap bytes
 * excludes those that Node allocates while it starts.
 *
 * @param isNode - Whether the file is Node; the heap of other programs is unknown.
 */
export function countedCommand(file, args, isNode) {
  const own = path.join(reports, `started-${(started += 1)}`);
  const command = [file, ...(isNode ? MEASURED : []), ...args];
  const wrapped = hasPerf ? ['perf', ...PERF, '-o', `${own}.perf`, '--', ...command] : command;
  return {
    command: wrapped,
    environment: { WINS_BENCH_HEAP_FILE: own },
    /** Call it after the command has ended. */
    counts: () => ({
      systemCalls: hasPerf ? systemCallsIn(readFileSync(`${own}.perf`, 'utf8')) : undefined,
      heapBytes: isNode ? Number(readFileSync(own, 'utf8')) : undefined,
    }),
  };
}

function systemCallsIn(text) {
  const found = /^(\d+),.*raw_syscalls/m.exec(text);
  if (found === null) throw new Error(`perf has counted nothing: ${text}`);
  return Number(found[1]);
}

export function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
