/** @needs chart */
import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { ROOT } from '../testing/workspace.js';
import { until, WindowsWorkspace } from './windows-workspace.js';

/** An init container of the rendered chart. */
interface Container {
  readonly name: string;
  readonly words: readonly [string, ...string[]];
  readonly mounts: Readonly<Partial<Record<'config' | 'host' | 'pipe', string>>>;
}

interface Release {
  readonly folder: string;
  readonly pipe: string;
  readonly config: string;
  readonly containers: readonly Container[];
}

const NAME = 'rancher-wins';
const built = (name: string) => path.join(ROOT, 'dist', 'upgrade', name);
const rendered = path.join(ROOT, 'dist', 'chart', 'releases.json');

describe('the commands of the chart', () => {
  const releases = JSON.parse(readFileSync(rendered, 'utf8')) as Record<string, Release>;
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const target = workspace.path('wins.exe');
  const release = (name: string): Release => {
    const found = releases[name];
    assert.ok(found);
    return found;
  };
  const { folder, pipe } = release('v1.1.0');
  const listen = path.win32.basename(pipe);
  const image = String.raw`C:\wins`;
  const oldConfig = path.join(folder, 'config');
  const newConfig = path.join(folder, 'wins.yaml');
  const helper = path.join(folder, 'wins-upgrade.exe');

  const run = async (file: string, ...args: string[]) => {
    const { code, stdout, stderr } = await startProgram(file, args, process.env).outcome;
    return { code, stdout: stdout.toString(), stderr };
  };
  const runContainer = async ({ words: [program, ...args] }: Container) => run(program, ...args);
  const container = (name: string, of: string): Container => {
    const found = release(of).containers.find((candidate) => candidate.name === name);
    assert.ok(found);
    return found;
  };
  /** Stands in for the mounts of a pod. Checks that the containers use the host's own paths, and writes the config map to its folder. */
  const mount = (name: string): void => {
    const { config, containers } = release(name);
    for (const { mounts } of containers) {
      if (mounts.host !== undefined) assert.equal(mounts.host, folder);
      if (mounts.pipe !== undefined) assert.equal(mounts.pipe, pipe);
      if (mounts.config === undefined) continue;
      mkdirSync(mounts.config, { recursive: true });
      writeFileSync(path.join(mounts.config, 'config'), config);
    }
  };
  /** Runs the init containers of a pod in order; each must succeed. */
  const runPod = async (name: string): Promise<string[]> => {
    mount(name);
    const said: string[] = [];
    for (const each of release(name).containers) {
      const { code, stdout, stderr } = await runContainer(each);
      assert.equal(code, 0, `${each.name}: ${stdout}${stderr}`);
      said.push(`${each.name}: ${stdout}`);
    }
    return said;
  };
  const served = async () => {
    const { stdout } = await run(target, 'cli', 'app', 'info', '--server', listen);
    return /v\d+\.\d+\.\d+/.exec(stdout)?.[0];
  };
  const assertServes = async (version: string, config: string) => {
    assert.equal(await served(), version);
    assert.ok(readFileSync(target).equals(readFileSync(built(`${version}.exe`))));
    const { commandLine } = services.config(NAME);
    assert.equal(commandLine, `"${target}" srv app run --config "${config}"`);
  };

  before(async () => {
    // Refuses to run on a real node: the tests would replace its files and service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    for (const taken of [image, folder]) assert.ok(!existsSync(taken), taken);
    mkdirSync(image);
    mkdirSync(folder, { recursive: true });
    const processPaths = [{ path: helper, mayBreakAway: true }];
    const proxy = workspace.proxy;
    writeFileSync(oldConfig, JSON.stringify({ listen, proxy, white_list: { processPaths } }));
    copyFileSync(built('v1.0.0.exe'), target);
    const words = ['srv', 'app', 'run', '--config', oldConfig, '--register'];
    const { code, stderr } = await run(target, ...words);
    assert.equal(code, 0, stderr);
    await services.start(NAME);
    await assertServes('v1.0.0', oldConfig);
  });
  after(async () => {
    await run(built('v1.0.0.exe'), 'srv', 'app', 'run', '--unregister');
    const { config } = container('check-config', 'v1.1.0').mounts;
    for (const each of [image, config, path.resolve(folder, '../../..')]) {
      assert.ok(each);
      rmSync(each, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
    await workspace.remove();
  });

  /** Excludes files that a daemon keeps beside its config. */
  const filesThere = () =>
    readdirSync(folder)
      .filter((name) => !name.endsWith('.history'))
      .sort();

  it('deliver nothing when the config is wrong, and say what is', async () => {
    copyFileSync(built('v1.1.0.exe'), path.join(image, 'wins.exe'));
    mount('wrong config');
    const { code, stderr } = await runContainer(container('check-config', 'wrong config'));
    assert.equal(code, 78);
    assert.match(stderr, /tunnel\.maxSessions/);
    assert.deepEqual(filesThere(), ['config']);
  });

  it('deliver no helper but the one that is pinned', async () => {
    const { code, stderr } = await runContainer(container('deliver-helper', 'wrong pin'));
    assert.equal(code, 126);
    assert.match(stderr, /has the SHA-256 [0-9a-f]{64}; wanted 0{64}/);
    assert.deepEqual(filesThere(), ['config']);
  });

  it('do not give a daemon another config, and say how an operator can', async () => {
    mount('v1.1.0');
    const { pid } = services.status(NAME);
    for (const name of ['check-config', 'deliver-config', 'deliver-helper']) {
      const { code, stderr } = await runContainer(container(name, 'v1.1.0'));
      assert.equal(code, 0, stderr);
    }
    const { code, stderr } = await runContainer(container('upgrade', 'v1.1.0'));
    assert.equal(code, 126, stderr);
    assert.match(
      stderr,
      /^wins: refused: the service reads the config .*\\config; wanted .*wins\.yaml/,
    );
    assert.match(stderr, /wins-upgrade up --wins-args '--config ".*wins\.yaml"'/);
    assert.equal(services.status(NAME).pid, pid);
    await assertServes('v1.0.0', oldConfig);
  });

  it('upgrade a daemon that an operator has led there; the config before stays for the way back', async () => {
    const old = readFileSync(oldConfig, 'utf8');
    const words = ['up', '--wins-args', `--config "${newConfig}"`];
    const own = await run(target, ...words);
    assert.deepEqual([own.code, /Run a copy of it in another folder/.test(own.stderr)], [65, true]);
    const copy = workspace.path('copy.exe');
    copyFileSync(target, copy);
    const led = await run(copy, ...words);
    assert.equal(led.code, 0, led.stderr);
    await assertServes('v1.0.0', newConfig);
    const [, config, delivered, upgraded] = await runPod('v1.1.0');
    assert.match(config ?? '', /wins: unchanged: .*wins\.yaml/);
    assert.match(delivered ?? '', /wins: unchanged: .*wins-upgrade\.exe/);
    assert.match(upgraded ?? '', /wins: upgraded: the release v1\.1\.0 serves/);
    await assertServes('v1.1.0', newConfig);
    assert.equal(readFileSync(oldConfig, 'utf8'), old);
  });

  it('do nothing when they are run again', async () => {
    const state = () => [
      services.status(NAME).pid,
      ...[newConfig, helper, target].map((file) => statSync(file).mtimeMs),
    ];
    const before = state();
    const [, config, delivered, upgraded] = await runPod('v1.1.0');
    assert.match(config ?? '', /wins: unchanged/);
    assert.match(delivered ?? '', /wins: unchanged/);
    assert.match(upgraded ?? '', /wins: nothing/);
    assert.deepEqual(state(), before);
    // `rancher-wins-wins-upgrade.exe` is the daemon's verified copy of the helper.
    const files = ['config', 'rancher-wins-wins-upgrade.exe', 'wins-upgrade.exe', 'wins.yaml'];
    assert.deepEqual(filesThere(), files);
  });

  it('upgrade a daemon that takes its config while it runs, to a helper that this config pins', async () => {
    copyFileSync(built('v1.2.0.exe'), path.join(image, 'wins.exe'));
    const [, config, , upgraded] = await runPod('v1.2.0');
    assert.match(config ?? '', /wins: delivered/);
    assert.match(upgraded ?? '', /wins: upgraded: the release v1\.2\.0 serves/);
    await assertServes('v1.2.0', newConfig);
  });

  it('put the helper back where it has gone, and the daemon runs no other in its place', async () => {
    rmSync(helper);
    const { code, stdout, stderr } = await runContainer(container('upgrade', 'v1.2.0'));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /wins: nothing/);
    copyFileSync(built('v1.1.0.exe'), helper);
    const other = await runContainer(container('upgrade', 'v1.2.0'));
    assert.equal(other.code, 126, other.stderr);
    await assertServes('v1.2.0', newConfig);
  });

  it('wait for whoever runs the file that is to be replaced, with a limit', async () => {
    copyFileSync(process.execPath, helper);
    const script = workspace.script(
      'holds',
      'console.log("holds"); setInterval(() => undefined, 1e6);',
    );
    const holder = startProgram(helper, [script], process.env);
    await holder.printed('holds');
    const [program, ...words] = container('deliver-helper', 'v1.2.0').words;
    const limited = await run(program, ...words, '--wait-timeout', '0s');
    assert.equal(limited.code, 125);
    assert.match(
      limited.stderr,
      /wins-upgrade\.exe: (access is denied|the operation is not permitted|another program)/,
    );
    const waiting = startProgram(program, words, process.env);
    await until(() => readdirSync(folder).some((name) => name.endsWith('.new')));
    holder.child.kill('SIGKILL');
    await holder.outcome;
    const { code, stderr } = await waiting.outcome;
    assert.equal(code, 0, stderr);
    assert.ok(readFileSync(helper).equals(readFileSync(built('v1.2.0.exe'))));
  });
});
