// Benchmarks of grpc-rows.mjs on Windows: the programs use named pipes, and the Windows node.exe runs them under Wine.
//   node windows-rows.mjs FILE WANTED    runs on Windows: measures, and writes the rows to FILE
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { placeFile } from '../place-file.mjs';
import { bareGrpc, grpcRows, measureInfo, measureOutput } from './grpc-rows.mjs';
import { Programs, Run } from './measure.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const WRITER = `
const block = Buffer.alloc(65536);
let left = Number(process.argv[2]);
const write = () => {
  while (left > 0) {
    left -= block.length;
    if (!process.stdout.write(block)) return void process.stdout.once('drain', write);
  }
};
write();
`;

const WHERE = ', Wine';
const LARGE_BYTES = 128 * 1024 * 1024;

export const windowsRows = grpcRows(WHERE);

if (process.platform === 'win32') await measure(process.argv[2], JSON.parse(process.argv[3]));

export async function measureWindows({ run, quick }) {
  const { startWine, windowsPath } = await import('../windows/wine.mjs');
  const { pinnedFile } = await import('../windows/packages.mjs');
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-bench-'));
  const wine = startWine();
  try {
    const addon = path.join(root, 'dist/koffi-win32-x64.node');
    placeFile(pinnedFile('@koromix/koffi-win32-x64'), addon);
    const file = path.join(folder, 'rows.json');
    const self = windowsPath(fileURLToPath(import.meta.url));
    const wanted = JSON.stringify({ quick, names: windowsRows.filter(run.wants) });
    const child = spawn(wine.program, [wine.node, self, windowsPath(file), wanted], {
      env: wine.environment,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the benchmark under Wine ended with ${code}`);
    for (const { ways, ...row } of JSON.parse(readFileSync(file, 'utf8'))) run.add(row, ways);
  } finally {
    wine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(file, { quick, names }) {
  const { createWinsClient } = await import('@wins/wins-api');
  const folder = mkdtempSync(path.join(process.env.SystemDrive ?? 'C:', '\\wins-bench-'));
  const programs = new Programs(process.env);
  const run = new Run({ quick, wants: (name) => names.includes(name) });
  const wins = path.join(root, 'dist/wins.cjs');
  try {
    const program = path.join(folder, 'bin', 'writer.exe');
    mkdirSync(path.dirname(program));
    copyFileSync(process.execPath, program);
    const script = path.join(folder, 'writer.cjs');
    writeFileSync(script, WRITER);
    const config = path.join(folder, 'config');
    const pipes = { listen: 'wins_bench', proxy: 'wins_bench_proxy' };
    writeFileSync(config, JSON.stringify({ ...pipes, white_list: { processPaths: [program] } }));

    const grpc = { endpoint: '\\\\.\\pipe\\wins_bench_bare' };
    await programs.start([bareGrpc, 'serve', grpc.endpoint], (line) => line === 'ready');
    const daemon = await programs.start([wins, 'srv', 'app', 'run', '--config', config], (line) =>
      line.includes('"msg":"ready"'),
    );
    const { address } = JSON.parse(daemon.line);
    const client = createWinsClient({ address });
    const writer = { path: program, args: [script] };
    const parts = { run, programs, wins, client, server: pipes.listen, writer, floors: { grpc } };
    await measureOutput({ ...parts, largeBytes: LARGE_BYTES, where: WHERE });
    await measureInfo({ ...parts, daemon: undefined, where: WHERE });
    await client.close();
    writeFileSync(file, JSON.stringify(run.rows));
  } finally {
    programs.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
