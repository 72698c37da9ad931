import { mayMount } from '@wins/base/testing';
import { createWinsClient } from '@wins/wins-api';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { wherePossible } from '../testing/where-possible.js';
import { Workspace, WINS } from '../testing/workspace.js';

const itOnItsOwnDisk = wherePossible(
  it,
  mayMount(),
  'full and read-only disks, since only root may mount',
);

describe('a daemon on a host in trouble', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());
  const wins = (...args: string[]) => runWins(args, workspace.environment);

  function mount(name: string, options: string): Disposable & { path: string } {
    const folder = workspace.path(name);
    mkdirSync(folder);
    const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], {
      encoding: 'utf8',
    });
    if (mounted.status !== 0) throw new Error(`this test must be able to mount: ${mounted.stderr}`);
    return { path: folder, [Symbol.dispose]: () => void spawnSync('/bin/umount', ['-l', folder]) };
  }

  itOnItsOwnDisk(
    'refuses a program whose copy does not fit on the disk, leaves nothing of it, and goes on',
    async () => {
      using disk = mount('disk', 'size=256k,mode=0755');
      const large = path.join(disk.path, 'large');
      writeFileSync(large, `#!/bin/sh\nexit 0\n${'#'.repeat(150_000)}\n`, { mode: 0o755 });
      const small = workspace.script('small', 'echo fine');
      await using _daemon = await Daemon.start(workspace, workspace.config([large, small]));
      const { code, stderr } = await wins('cli', 'prc', 'run', '--path', large);
      expect(code).toBe(125);
      expect(stderr).toContain('the disk is full');
      expect(readdirSync(disk.path)).toEqual(['large']);
      expect((await wins('cli', 'prc', 'run', '--path', small)).stdout.toString()).toBe('fine\n');
    },
  );

  itOnItsOwnDisk('refuses a program in a folder that cannot be written', async () => {
    using disk = mount('disk', 'size=256k,mode=0755');
    const program = path.join(disk.path, 'program');
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    spawnSync('/bin/mount', ['-o', 'remount,ro', disk.path]);
    await using _daemon = await Daemon.start(workspace, workspace.config([program]));
    const { code, stderr } = await wins('cli', 'prc', 'run', '--path', program);
    expect(code).toBe(125);
    expect(stderr).toContain('the file system is read-only');
  });

  it('says what is wrong with a program that the system cannot run', async () => {
    const program = workspace.write('broken', '#!/\n', 0o755);
    await using _daemon = await Daemon.start(workspace, workspace.config([program]));
    const { code, stderr } = await wins('cli', 'prc', 'run', '--path', program);
    expect(code).toBe(125);
    expect(stderr).toMatch(/^wins: [^\n]*rancher-wins-broken[^\n]*\n$/);
  });

  it('survives running out of file descriptors and serves again', async () => {
    const quick = workspace.script('quick', 'echo fine');
    const config = workspace.config([quick]);
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        'ulimit -n 48; exec "$0" "$@"',
        process.execPath,
        WINS,
        'srv',
        'app',
        'run',
        '--config',
        config,
      ],
      {
        env: workspace.environment,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    child.stderr.setEncoding('utf8');
    let log = '';
    child.stderr.on('data', (text: string) => (log += text));
    await until(() => log.includes('"msg":"ready"'));

    const [, address = ''] = /"address":"([^"]+)"/.exec(log) ?? [];
    const clients = Array.from({ length: 40 }, () => createWinsClient({ address }));
    const checksum = createHash('sha1').update(readFileSync(quick)).digest('hex');
    const request = { path: quick, checksum };
    const starts = await Promise.allSettled(clients.map((client) => client.startProcess(request)));
    expect(starts.some(({ status }) => status === 'rejected')).toBe(true);
    await Promise.all(clients.map((client) => client.close()));
    expect(child.exitCode).toBeNull();
    expect((await wins('cli', 'prc', 'run', '--path', quick)).stdout.toString()).toBe('fine\n');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('does not blame clients whose handshake came while it stood still for longer than that may take', async () => {
    const limitMs = 5000;
    const tunnel = { handshakeTimeoutMs: limitMs };
    await using daemon = await Daemon.start(workspace, workspace.config([], { tunnel }));
    const { address, tunnelAddress } = await daemon.logged(({ msg }) => msg === 'ready');
    const [grpc, webSocket] = [connect(String(address)), connect(String(tunnelAddress))];
    await Promise.all([once(grpc, 'connect'), once(webSocket, 'connect')]);
    // The daemon accepts connections in order, so once it serves `later`, it has accepted `grpc` and `webSocket`.
    const later = createWinsClient({ address: String(address) });
    await later.info();
    const accepted = performance.now();
    await later.close();

    daemon.child.kill('SIGSTOP');
    const status = `/proc/${daemon.child.pid ?? 0}/status`;
    await until(() => /^State:\tT/m.test(readFileSync(status, 'utf8')));
    const noSettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    grpc.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), noSettings]));
    webSocket.write(
      'GET / HTTP/1.1\r\nHost: wins\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nrancher-wins-cli-proxy: me\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await until(() => performance.now() - accepted > limitMs);
    const answers = Promise.all([once(grpc, 'data'), once(webSocket, 'data')]);
    daemon.child.kill('SIGCONT');
    const [[settings], [response]] = (await answers) as [[Buffer], [Buffer]];
    // The fourth byte of a frame is its type; 4 is SETTINGS.
    expect(settings[3]).toBe(4);
    expect(String(response)).toMatch(/^HTTP\/1\.1 101 /);
    for (const socket of [grpc, webSocket]) socket.destroy();
  });

  it('never touches a process that has the PID of one of its own by now', async () => {
    const program = workspace.script('victim', 'echo up; exec sleep 1000');
    const config = workspace.config([program]);
    const first = await Daemon.start(workspace, config);
    const client = startWins(['cli', 'prc', 'run', '--path', program], workspace.environment);
    await client.printed('up');
    await first.stop('SIGKILL');
    await client.outcome;

    // Put the PID of an unrelated process into the state file that the killed daemon left for its run.
    const runs = workspace.path('run', 'rancher_wins.state', 'runs');
    const [mark = ''] = readdirSync(runs);
    const record = path.join(runs, mark, 'run.json');
    const bystander = spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' });
    const content = JSON.parse(readFileSync(record, 'utf8')) as object;
    writeFileSync(record, JSON.stringify({ ...content, pid: bystander.pid }));

    await using _second = await Daemon.start(workspace, config);
    expect(existsSync(`/proc/${bystander.pid ?? 0}`)).toBe(true);
    expect(bystander.exitCode).toBeNull();
    bystander.kill('SIGKILL');
    await once(bystander, 'exit');
  });
});
