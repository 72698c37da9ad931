// Benchmarks of detached runs: the costs of the keeper (the process that owns the runs), the speed of output through it, and the time that a
// daemon needs to adopt runs.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ownMebibytes, proportionalMebibytes } from './costs.mjs';

const RUNS = 100;
/** Fits into a spool, so that the reader misses nothing. */
const BYTES = 400 * 1000 * 1000;

const MEMORY = 'keeper, memory of its own';
const OUTPUT = 'output of a detached run';
const MEMORY_AFTER = 'keeper, PSS after 2 GB';
const ADOPTION = `${RUNS} detached runs adopted`;

export const detachedRows = [MEMORY, OUTPUT, MEMORY_AFTER, ADOPTION];

export async function measureDetached({ run, programs, wins, folder }) {
  const { createWinsClient } = await import('@wins/wins-api');
  const program = (name, source) => {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${source}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  // For comparison, the first program has no grant for detached runs.
  const [direct, writer] = ['attached-writer', 'detached-writer'].map((name) =>
    program(name, 'exec head -c "$1" /dev/zero'),
  );
  const sleepers = Array.from({ length: RUNS }, (_, index) =>
    program(`sleeper-${index}`, 'exec sleep 600'),
  );
  const grant = { allow: true, maxRuns: 1, spoolBytes: 1024 * 1024 };
  const processPaths = [
    { path: direct },
    { path: writer, detached: { ...grant, spoolBytes: 420 * 1024 * 1024 } },
    ...sleepers.map((file) => ({ path: file, detached: grant })),
  ];
  const config = path.join(folder, 'detached-config');
  const server = 'bench_detached';
  writeFileSync(
    config,
    JSON.stringify({ listen: server, proxy: `${server}_proxy`, white_list: { processPaths } }),
  );
  chmodSync(config, 0o600);
  const begin = async () => {
    const start = performance.now();
    const { child, line } = await programs.start(
      [wins, 'srv', 'app', 'run', '--config', config],
      (text) => text.includes('"msg":"ready"'),
    );
    return { child, address: JSON.parse(line).address, ms: performance.now() - start };
  };
  const end = async ({ child }) => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const startDetached = (client, file, args = []) => {
    const bytes = readFileSync(file);
    const digest = (name) => createHash(name).update(bytes).digest('hex');
    return client.startProcess({
      path: file,
      args,
      dir: folder,
      exposes: [],
      envs: [],
      replace: false,
      files: [],
      keep: { name: '', restart: '' },
      outlivesDaemon: false,
      checksum: digest('sha1'),
      checksumSha256: digest('sha256'),
    });
  };

  await end(await begin());
  const empty = await begin();
  const client = createWinsClient({ address: empty.address });
  await startDetached(client, sleepers[0]);
  const [keeper = 0] = keepersIn(path.join(folder, 'run', `${server}.state`, 'runs'));
  try {
    run.addOnce(
      { name: MEMORY, unit: 'MiB', figure: { is: 'value', atMost: 45 } },
      { keeper: ownMebibytes(keeper) },
    );
    const way = (print) => {
      const take = (part) => async (share) => {
        const bytes = Math.round(BYTES * part * share);
        return { units: bytes / 1e9, ms: await print(String(bytes)) };
      };
      return { client: programs, daemon: empty.child.pid, work: take(1), less: take(1 / 16) };
    };
    const prc = (...words) => programs.time([wins, 'cli', 'prc', ...words, '--server', server]);
    await run.measure(
      { name: OUTPUT, unit: 'MB/s', per: 'GB', figure: { is: 'ratio', atLeast: 0.8 } },
      {
        'prc run': way((bytes) => prc('run', '--path', direct, '--args', bytes)),
        wins: way(async (bytes) => {
          const start = performance.now();
          const { name } = await startDetached(client, writer, [bytes]);
          await prc('logs', '-f', name);
          return performance.now() - start;
        }),
      },
      ({ units, ms }) => (units * 1e6) / ms,
    );
    if (run.wants(MEMORY_AFTER)) {
      for (let count = 0; count < 5; count += 1) {
        const { name } = await startDetached(client, writer, [String(BYTES)]);
        await prc('logs', '-f', name);
      }
      run.addOnce(
        { name: MEMORY_AFTER, unit: 'MiB', figure: { is: 'value', atMost: 45 } },
        { keeper: proportionalMebibytes(keeper) },
      );
    }
    if (run.wants(ADOPTION)) {
      for (const file of sleepers.slice(1)) await startDetached(client, file);
      await client.close();
      await end(empty);
      const adopting = await begin();
      run.addOnce(
        { name: ADOPTION, unit: 'ms', figure: { is: 'growth', atMost: 1000 } },
        { 'a start without': empty.ms, wins: adopting.ms },
      );
    } else await client.close();
  } finally {
    process.kill(keeper, 'SIGKILL');
  }
}

function keepersIn(folder) {
  return readdirSync(folder)
    .filter((name) => name.startsWith('keeper.'))
    .map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')))
    .map(({ keeper }) => Number.parseInt(keeper, 10));
}
