// The Windows suite: every `*.windows-spec.ts`, bundled, and run by the Windows node.exe with its own test runner; under
// Wine here, directly on Windows. `node tools/windows/run-specs.mjs [PART OF A PATH …]`
import { build } from 'esbuild';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { koffiBesideBundle } from './koffi-plugin.mjs';
import { cacheFolder, windowsFile } from './packages.mjs';
import { startWine, wineEnvironment, windowsPath } from './wine.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const out = path.join(cacheFolder, 'suite');
/** A bound for what hangs, not a measure. */
const LIMIT_MS = 900_000;

const specs = ['libs', 'apps']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((name) =>
      path.join(folder, name),
    ),
  )
  .filter((name) => name.endsWith('.windows-spec.ts') && !name.includes('node_modules'))
  .filter(
    (name) => process.argv.length < 3 || process.argv.slice(2).some((part) => name.includes(part)),
  )
  .sort();

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const addon = windowsFile('@koromix/koffi-win32-x64');
// Beside the bundled specs, and beside the built programs that some of them start.
for (const folder of [out, path.join(root, 'dist')].filter(existsSync)) {
  copyFileSync(addon, path.join(folder, 'koffi-win32-x64.node'));
}

const machine =
  process.platform === 'win32'
    ? { command: [process.execPath], env: process.env, see: path.resolve, stop: () => undefined }
    : onWine();

function onWine() {
  const { node, program, stop } = startWine();
  return { command: [program, node], env: wineEnvironment, see: windowsPath, stop };
}

let passed = 0;
let failed = 0;
let skipped = 0;
try {
  for (const spec of specs) {
    try {
      await run(spec);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${spec}: it could not be run\n  ● ${error.message}`);
    }
  }
} finally {
  machine.stop();
}
console.log(`\nWindows suite: ${passed} passed, ${failed} failed, ${skipped} skipped`);
writeFileSync(path.join(cacheFolder, 'summary.json'), JSON.stringify({ passed, failed, skipped }));
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** Runs what prepares a spec, or clears up after it, and lies beside it: it builds what the spec runs, for example. */
function runBeside(spec, what) {
  const program = path.join(root, spec.replace(/windows-spec\.ts$/, `${what}.mjs`));
  if (existsSync(program)) execFileSync(process.execPath, [program], { stdio: 'inherit' });
}

async function run(spec) {
  runBeside(spec, 'prepare');
  const name = spec.replaceAll(path.sep, '+').replace(/\.ts$/, '');
  const files = Object.fromEntries(
    ['cjs', 'jsonl', 'log'].map((type) => [type, path.join(out, `${name}.${type}`)]),
  );
  await build({
    entryPoints: [path.join(root, spec)],
    outfile: files.cjs,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    sourcemap: 'inline',
    conditions: ['@wins/source'],
    // Loaded at run time by the built daemon alone.
    external: ['./wins-upgrade.cjs'],
    plugins: [koffiBesideBundle],
    logLevel: 'warning',
  });
  const reporter = new URL(
    `file:///${machine.see(path.join(import.meta.dirname, 'reporter.mjs')).replaceAll('\\', '/')}`,
  );
  const log = openSync(files.log, 'w');
  const child = spawn(
    machine.command[0],
    [
      ...machine.command.slice(1),
      '--enable-source-maps',
      `--test-reporter=${reporter.href}`,
      `--test-reporter-destination=${machine.see(files.jsonl)}`,
      machine.see(files.cjs),
    ],
    { env: { ...machine.env, WINS_ROOT: machine.see(root) }, stdio: ['ignore', log, log] },
  );
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(limit);
  closeSync(log);
  runBeside(spec, 'finish');
  const results = existsSync(files.jsonl)
    ? readFileSync(files.jsonl, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
  const bad = results.filter((result) => result.error !== undefined);
  console.log(
    `${bad.length === 0 && code === 0 ? 'PASS' : 'FAIL'} ${spec} (${results.length} tests)`,
  );
  for (const { title, error } of bad) console.log(`  ● ${title}\n${error.replace(/^/gm, '    ')}`);
  passed += results.filter((result) => result.error === undefined && !result.skipped).length;
  skipped += results.filter((result) => result.skipped).length;
  failed += bad.length;
  // A crash, or something left open, may come after the last test; a file without tests proves nothing.
  if (bad.length > 0 || (code === 0 && results.length > 0)) return;
  failed += 1;
  console.log(`  ● ended with ${code ?? signal} after ${results.length} tests`);
  console.log(
    readFileSync(files.log, 'utf8').split('\n').slice(-40).join('\n').replace(/^/gm, '    '),
  );
}
