// Benchmarks of the client's start, with an empty Node program as floor, and of the memory of an idle daemon.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { residentMebibytes } from './costs.mjs';
import { medianTime } from './measure.mjs';

const STARTS = 10;
const MEMORY = 'idle memory';
const ROWS = /** @type {const} */ ([
  ['cli --version', 1.3],
  ['help', 1.6],
  ['cli app info', 2.2],
  ['cli prc ls', 2.2],
  ['cli prc run', 2.4],
  ['status', 5],
]);
const LOADED = path.join(import.meta.dirname, 'loaded-modules.cjs');

export const startRows = [MEMORY, ...ROWS.map(([words]) => words)];

/** @param floor - PID of the server to compare the daemon with. This server uses plain grpc-js. */
export function measureMemory({ run, daemon, floor }) {
  run.addOnce(
    { name: MEMORY, unit: 'MiB', figure: { is: 'growth', atMost: 25 } },
    { 'grpc-js': residentMebibytes(floor), wins: residentMebibytes(daemon) },
  );
}

/**
 * Also finds what each of these commands loads.
 *
 * @param folder - Folder for temporary files.
 * @param empty - A listed program that does nothing.
 * @param config - Config of the daemon.
 */
export async function measureStarts({ run, programs, wins, daemon, empty, config, folder }) {
  const way = (args) => ({
    client: programs,
    work: medianTime(STARTS, () => programs.time(args)),
  });
  for (const [words, atMost] of ROWS) {
    const more = { 'cli prc run': ['--path', empty], status: ['--config', config] };
    const args = more[words] ?? [];
    if (run.wants(words)) {
      const file = path.join(folder, 'loaded.json');
      const command = [wins, ...words.split(' '), ...args];
      await programs.time(['--require', LOADED, ...command], {
        environment: { WINS_LOADED_FILE: file },
      });
      const { bundles, modules } = JSON.parse(readFileSync(file, 'utf8'));
      const bytes = bundles.map((name) => statSync(path.join(path.dirname(wins), name)).size);
      run.loaded.push({ words, bundles, bytes: bytes.reduce((sum, size) => sum + size), modules });
    }
    await run.measure(
      { name: words, unit: 'ms', per: 'start', figure: { is: 'ratio', atMost } },
      {
        'node -e 0': way(['-e', '0']),
        wins: {
          ...way([wins, ...words.split(' '), ...args]),
          ...(words !== 'help' && !words.endsWith('--version') && { daemon }),
        },
      },
    );
  }
}
