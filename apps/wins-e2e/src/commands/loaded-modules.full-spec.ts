import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { ROOT, WINS, Workspace } from '../testing/workspace.js';

const PRELOADED = path.join(ROOT, 'tools/bench/loaded-modules.cjs');

/** Node loads these to write to a pipe. */
const OUTPUT = ['diagnostics_channel', 'net', 'stream', 'stream/promises', 'string_decoder'];
/** Node's HTTP/2 client and grpc-js load these. */
const CALLS = [
  ...OUTPUT,
  'assert',
  'crypto',
  'fs/promises',
  'http',
  'http2',
  'os',
  'perf_hooks',
  'process',
  'timers/promises',
  'tls',
];

/** The checks of this host need `child_process`, which loads `dgram`. */
const CHECKS = [...CALLS, 'child_process', 'dgram'];

describe('a short command', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  beforeAll(async () => {
    workspace = new Workspace();
    daemon = await Daemon.start(workspace, workspace.config([]));
  });
  afterAll(async () => {
    await daemon.stop();
    workspace[Symbol.dispose]();
  });

  it.each([
    ['--version', ['wins.cjs'], OUTPUT],
    ['help', ['wins-help.cjs', 'wins.cjs'], [...OUTPUT, 'assert']],
    ['help cli prc run', ['wins-help.cjs', 'wins.cjs'], [...OUTPUT, 'assert']],
    ['cli app info', ['wins-cli.cjs', 'wins.cjs'], CALLS],
    ['cli app info -o table', ['wins-cli.cjs', 'wins.cjs'], CALLS],
    ['cli prc ls', ['wins-cli.cjs', 'wins.cjs'], CALLS],
    // These two exit with 1, because they warn that no program may run.
    ['status --config CONFIG', ['wins-doctor.cjs', 'wins.cjs'], CHECKS, 1],
    ['doctor --config CONFIG', ['wins-doctor.cjs', 'wins.cjs'], CHECKS, 1],
  ])('loads only what it needs: %s', async (words, bundles, modules, exitCode = 0) => {
    const file = workspace.path('loaded.json');
    const environment = { ...workspace.environment, WINS_LOADED_FILE: file };
    const typed = words.replace('CONFIG', workspace.path('config')).split(' ');
    const args = ['--require', PRELOADED, WINS, ...typed];
    const { code, stderr } = await startProgram(process.execPath, args, environment).outcome;
    expect([code, stderr]).toEqual([exitCode, '']);
    const loaded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string[]>;
    expect(loaded['bundles']).toEqual(bundles);
    expect(loaded['modules']?.filter((name) => !modules.includes(name))).toEqual([]);
  });
});

it('a keeper, which lasts as long as its runs, loads no bundle of the daemon', async () => {
  using workspace = new Workspace();
  const file = workspace.path('loaded.json');
  const environment = { ...workspace.environment, WINS_LOADED_FILE: file };
  const args = [WINS, 'srv', 'keep', '--state', workspace.path('state')];
  const keeper = startProgram(process.execPath, ['--require', PRELOADED, ...args], environment);
  await keeper.printed('\n');
  keeper.child.kill('SIGTERM');
  await keeper.outcome;
  const loaded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string[]>;
  expect(loaded['bundles']).toEqual(['wins-keeper.cjs', 'wins.cjs']);
});
