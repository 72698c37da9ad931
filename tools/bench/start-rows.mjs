// Benchmarks of the client's start, with an empty Node program as floor, and of the memory of an idle daemon.
import { residentMebibytes } from './costs.mjs';
import { medianTime } from './measure.mjs';

const STARTS = 10;
const MEMORY = 'idle memory';
const ROWS = /** @type {const} */ ([
  ['cli --version', 1.3],
  ['cli app info', 2.0],
  ['cli prc run', 3.0],
]);

export const startRows = [MEMORY, ...ROWS.map(([words]) => words)];

/** @param floor - PID of the server to compare the daemon with. This server uses plain grpc-js. */
export function measureMemory({ run, daemon, floor }) {
  run.addOnce(
    { name: MEMORY, unit: 'MiB', figure: { is: 'growth', atMost: 25 } },
    { 'grpc-js': residentMebibytes(floor), wins: residentMebibytes(daemon) },
  );
}

/** @param empty - A listed program that does nothing. */
export async function measureStarts({ run, programs, wins, daemon, empty }) {
  const way = (args) => ({
    client: programs,
    work: medianTime(STARTS, () => programs.time(args)),
  });
  for (const [words, atMost] of ROWS) {
    const args = words.endsWith('run') ? ['--path', empty] : [];
    await run.measure(
      { name: words, unit: 'ms', per: 'start', figure: { is: 'ratio', atMost } },
      {
        'node -e 0': way(['-e', '0']),
        wins: {
          ...way([wins, ...words.split(' '), ...args]),
          ...(!words.endsWith('--version') && { daemon }),
        },
      },
    );
  }
}
