/** @needs releases odd-releases */
import { fileSecurity, serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import { freePorts, HostProgram, textOf } from '../testing/tunnel/tunnel.js';
import { COUNTER, EXPORTER } from '../testing/upgrade/detached-programs.js';
import { ROOT } from '../testing/workspace.js';
import { isAlive, serviceLogFolders, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';

async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

describe('clients of a service that is upgraded', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const target = workspace.path('wins.exe');
  const client = workspace.path('client.exe');
  const upgrader = workspace.path('wins-upgrade.exe');
  const tool = workspace.program('tool');
  const granted = ['exporter', 'detached', 'held'].map((name) => workspace.program(name));
  const counter = workspace.script('counter', COUNTER);
  const exporter = workspace.script('exporter', EXPORTER);
  const sleeper = workspace.script(
    'sleeper',
    'console.log(process.pid); setInterval(() => {}, 1e6);',
  );
  const programs: RunningProgram[] = [];
  const release = (name: string) => path.join(ROOT, 'dist', 'upgrade', `${name}.exe`);
  const start = (file: string, ...args: string[]) => {
    const program = startProgram(file, args, process.env);
    programs.push(program);
    return program;
  };
  const prc = (command: string, ...args: string[]) =>
    start(client, 'cli', 'prc', command, '--server', workspace.listen, ...args);
  const runTool = (...args: string[]) => prc('run', '--path', tool, ...args);
  const runGranted = (name: string, ...args: string[]) =>
    prc('run', '--path', workspace.path('programs', `${name}.exe`), ...args);
  const startSleeper = async () => {
    const run = runTool('--', sleeper);
    await run.printed('\n');
    return { run, pid: Number(run.stdout()) };
  };
  let echo: HostProgram;
  let port: number;
  let scraped: number;
  let tunnel: RunningProgram;
  /** Two clients that print the output of a counting program: one holds its run, the other follows the logs of a detached run. */
  let counting: readonly RunningProgram[];

  const scrape = async (): Promise<string> => {
    const request = get({ host: '127.0.0.1', port: scraped, agent: false });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return textOf(answer);
  };

  before(async () => {
    // Refuses to run on a real node: the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const [first = 0, second = 0, exporterPort = 0] = await freePorts(3);
    [port, scraped] = [first, second];
    const config = workspace.config(
      [
        tool,
        { path: upgrader, mayBreakAway: true },
        ...granted.map((program) => ({ path: program, detached: { allow: true } })),
      ],
      [echo.port, exporterPort],
    );
    copyFileSync(release('v1.0.0'), target);
    copyFileSync(release('v1.0.0'), client);
    const words = ['srv', 'app', 'run', '--config', config, '--register'];
    const { code, stderr } = await start(target, ...words).outcome;
    assert.equal(code, 0, stderr);
    await services.start(NAME);
    const publish = `TCP:${port}:${echo.port} TCP:${scraped}:${exporterPort}`;
    tunnel = start(client, 'cli', 'proxy', '--proxy', workspace.proxy, '--publish', publish);
    await tunnel.said('the tunnel is ready');
    const named = ['--name', 'exporter', '--', exporter, String(exporterPort)];
    const started = await runGranted('exporter', '--detach', ...named).outcome;
    assert.equal(started.code, 0, started.stderr);
    const ready = prc('logs', '-f', 'exporter');
    await ready.printed('ready');
    ready.child.kill('SIGKILL');
    const count = ['--', counter, workspace.path('stop')];
    const detached = await runGranted('detached', '--detach', '--name', 'counter', ...count)
      .outcome;
    assert.equal(detached.code, 0, detached.stderr);
    counting = [runGranted('held', ...count), prc('logs', '-f', 'counter')];
  });
  after(async () => {
    for (const { child } of programs) child.kill('SIGKILL');
    await start(release('v1.0.0'), 'srv', 'app', 'run', '--unregister').outcome;
    await echo[Symbol.asyncDispose]();
    await workspace.remove();
  });

  it('have runs whose keeper and output lie in a folder of SYSTEM and administrators alone', () => {
    const paths = serviceLogFolders().map((log) =>
      path.join(log, '..', 'state', workspace.listen, 'runs'),
    );
    const [kept = ''] = paths.filter(existsSync);
    const names = readdirSync(kept, { recursive: true, encoding: 'utf8' });
    assert.ok(names.some((file) => /^keeper-[0-9a-f]{40}\.exe$/.test(file)));
    assert.ok(names.some((file) => /^keeper\.[0-9a-f]{16}\.json$/.test(file)));
    assert.ok(names.some((file) => /^[0-9a-f]{32}.spool/.test(file)));
    // Checks only the access list of the folder. On Windows, the files in it inherit the entries of this list. Under Wine, the files have
    // permission bits instead.
    const found = fileSecurity(kept);
    assert.match(found, /\(A;OICI;FA;;;SY\)/);
    assert.doesNotMatch(found, /;;;(?:WD|BU|AU|S-1-1-0)\)/);
  });

  for (const [how, name, wanted, said] of [
    ['for good', 'v1.1.0', 0, /^wins: upgraded: /],
    ['and goes back to its release', 'lies', 125, /^wins: rolledBack: /],
  ] as const) {
    it(`get a clear end, or come back by themselves: ${how}`, async () => {
      const open = connect(port, '127.0.0.1');
      assert.equal(await say(open, 'before'), 'before');
      const cut = new Promise<NodeJS.ErrnoException>((resolve) => open.once('error', resolve));
      const { run, pid } = await startSleeper();
      const [exporterPid, count] = (await scrape()).split(' ');
      const daemon = services.status(NAME).pid;
      const seen = tunnel.stderr().length;

      copyFileSync(release(name), upgrader);
      const words = ['cli', 'upgrade', '--server', workspace.listen, '--path', upgrader];
      const upgrade = await start(client, ...words).outcome;
      assert.equal(upgrade.code, wanted, upgrade.stderr);
      assert.match(`${String(upgrade.stdout)}${upgrade.stderr}`, said);
      assert.notEqual(services.status(NAME).pid, daemon);

      const { code, stderr } = await run.outcome;
      assert.notEqual(code, 0);
      assert.match(stderr, /^wins: \S*tool\S* was stopped: daemonStopping \([^\n]*\)\n$/);
      assert.ok(!isAlive(pid));

      assert.equal((await cut).code, 'ECONNRESET');
      const again = connect(port, '127.0.0.1');
      assert.equal(await say(again, 'after'), 'after');
      again.destroy();
      assert.equal(await scrape(), `${exporterPid} ${Number(count) + 1}`);
      for (const each of counting)
        await each.printed(`\n${each.stdout().split('\n').length + 20}\n`);
      assert.equal(tunnel.child.exitCode, null);
      const lines = tunnel.stderr().slice(seen).trimEnd().split('\n');
      assert.ok(lines.length > 1);
      for (const [index, line] of lines.entries())
        assert.match(line, index % 2 === 0 ? /the tunnel is lost/ : /the tunnel is back$/);
    });
  }

  it('wait while no daemon serves, if they may, and say so at once if not', async () => {
    await services.stop(NAME);
    const told = await runTool('--', '-p', '42').outcome;
    assert.equal(told.code, 125);
    assert.match(
      told.stderr,
      /^wins: cannot connect to [^\n]*--wait-timeout waits for it; [^\n]*\)\n$/,
    );
    const patient = runTool('--wait-timeout', '60s', '--', '-p', '42');
    const held = connect(port, '127.0.0.1');
    const answer = say(held, 'held');
    await services.start(NAME);
    assert.equal(await answer, 'held');
    held.destroy();
    const { code, stdout, stderr } = await patient.outcome;
    assert.deepEqual([code, String(stdout).trim(), stderr], [0, '42', '']);
    assert.equal(tunnel.child.exitCode, null);
  });

  it('get each line of a run that lasts, once, and its exit code, whatever came between', async () => {
    workspace.write('stop', '');
    const [held, following] = await Promise.all(counting.map(({ outcome }) => outcome));
    assert.deepEqual([held?.code, held?.stderr], [7, '']);
    for (const ended of [held, following]) {
      const lines = String(ended?.stdout).split('\n').slice(0, -1);
      assert.ok(lines.length > 40);
      assert.deepEqual(
        lines,
        lines.map((_, index) => String(index)),
      );
    }
    assert.equal((await prc('wait', 'counter').outcome).code, 7);
  });
});
