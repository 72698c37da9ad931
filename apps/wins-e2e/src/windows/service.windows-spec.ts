import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isAlive, serviceLogFolders, until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';

describe('the daemon as a Windows service', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const tool = workspace.program('tool');
  const detached = { allow: true };
  const config = workspace.config([{ path: tool, detached }]);
  const sleeper = workspace.script(
    'sleeper',
    'console.log(process.pid); setInterval(() => {}, 1e6);',
  );
  const begun = new Date();
  const settings = ['srv', 'app', 'run', '--config', config];

  const startSleeper = async () => {
    const client = workspace.client('prc', 'run', '--path', tool, '--', sleeper);
    await until(() => client.stdout().includes('\n'));
    return { client, pid: Number(client.stdout()) };
  };

  before(() => {
    // Refuses to run on a real node: the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
  });
  after(async () => {
    await workspace.run('srv', 'app', 'run', '--unregister');
    await workspace.remove();
  });

  it('is registered with its config, blanks and all, and registering again changes it in place', async () => {
    for (const more of [[], ['--delayed-start']]) {
      const { code, stderr } = await workspace.run(...settings, '--register', ...more);
      assert.equal(code, 0, stderr);
    }
    const { commandLine, startType } = services.config(NAME);
    assert.ok(commandLine.endsWith(`srv app run --config "${config}"`), commandLine);
    assert.match(startType, /automatic|delayed/);
  });

  it('is running only when both pipes are served', async () => {
    const { state, pid } = await services.start(NAME);
    assert.equal(state, 'running');
    assert.ok(isAlive(pid));
    const info = await workspace.client('app', 'info').outcome;
    assert.equal(info.code, 0, info.stderr);
    const doctor = await workspace.run('doctor', '--config', config);
    assert.equal(doctor.code, 0, String(doctor.stdout));
  });

  it('says what the host is', async () => {
    const version = await workspace.client('hst', 'get-version').outcome;
    assert.match(String(version.stdout), /"CurrentMajorVersionNumber":"10"/);
    const adapter = await workspace.client('net', 'get').outcome;
    assert.match(String(adapter.stdout), /"AddressCIDR":"\d/);
    const routes = await workspace.client('route', 'ls').outcome;
    assert.match(String(routes.stdout), /0\.0\.0\.0\/0/);
  });

  it('ends what it runs when it is stopped, and says that it ended well', async () => {
    const { client, pid } = await startSleeper();
    const { state, win32ExitCode } = await services.stop(NAME);
    assert.deepEqual([state, win32ExitCode], ['stopped', 0]);
    await until(() => !isAlive(pid));
    assert.notEqual((await client.outcome).code, 0);
  });

  it('starts with the config before one that is wrong, and without one does not start, and does not hang', async () => {
    workspace.write('config file', 'white_list: [');
    assert.equal((await services.start(NAME)).state, 'running');
    await services.stop(NAME);
    rmSync(workspace.path('config file.history'), { recursive: true });
    await assert.rejects(services.start(NAME), /exit code 78/);
    workspace.config([{ path: tool, detached }]);
  });

  it('has written what it did, as JSON lines, where only administrators may write', () => {
    const [found] = serviceLogFolders();
    assert.ok(found, 'there is no folder of logs');
    const stopping = readdirSync(found)
      .filter((name) => /^rancher-wins\.\d+\.log$/.test(name))
      .flatMap((name) => readFileSync(path.join(found, name), 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line) as { time: string; msg: string; control?: string })
      // Other suites used a service of this name earlier.
      .filter(({ time, msg }) => msg === 'stopping' && new Date(time) >= begun);
    assert.deepEqual(
      stopping.map(({ control }) => control),
      ['stop', 'stop'],
    );
  });

  it('leaves a detached run alone when it is stopped, and ends it when it is removed', async () => {
    await services.start(NAME);
    const run = ['prc', 'run', '-d', '--name', 'web', '--path', tool, '--', sleeper];
    const started = await workspace.client(...run).outcome;
    assert.deepEqual([started.code, started.stderr], [0, '']);
    const log = workspace.client('prc', 'logs', '-f', 'web');
    await log.printed('\n');
    log.child.kill('SIGKILL');
    const pid = Number(log.stdout());
    await services.stop(NAME);
    assert.ok(isAlive(pid));
    const { code, stdout } = await workspace.run('srv', 'app', 'run', '--unregister');
    assert.deepEqual([code, isAlive(pid)], [0, false], String(stdout));
    const audit = await workspace.run('srv', 'audit', 'show', '--config', config, '-o', 'json');
    const ended = audit.stdout
      .toString()
      .split('\n')
      .filter((line) => line.includes('detachedRunsEnded'));
    assert.equal(ended.length, 1);
    assert.match(ended[0] ?? '', /"reason":"unregistered".*"name":"web"/);
    const again = await workspace.run(...settings, '--register');
    assert.equal(again.code, 0, again.stderr);
  });

  it('is removed, and removing it again is no error', async () => {
    for (const wanted of [/removed/i, /not registered|no service/i]) {
      const { code, stdout, stderr } = await workspace.run('srv', 'app', 'run', '--unregister');
      assert.equal(code, 0, stderr);
      assert.match(`${String(stdout)}${stderr}`, wanted);
    }
    assert.throws(() => services.status(NAME), { code: 'notFound' });
  });
});
