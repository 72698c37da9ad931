import assert from 'node:assert/strict';
import { createServer, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { RunningProgram } from '../testing/built-program.js';
import { freePorts } from '../testing/tunnel/tunnel.js';
import { isAlive, until, WindowsWorkspace } from './windows-workspace.js';

const SHOW = `process.stdout.write(JSON.stringify({
  args: process.argv.slice(2), cwd: process.cwd(), env: process.env.E2E_VALUE }));
process.stderr.write('and this');`;
const FAMILY = `const { spawn } = require('node:child_process');
const wait = ['-e', 'console.log(process.pid); setInterval(() => {}, 1e6)'];
const child = (options) => spawn(process.execPath, wait, { stdio: ['ignore', 'inherit', 'ignore'], ...options });
console.log(process.pid); child({}); child({ detached: true });
setInterval(() => {}, 1e6);`;

async function fetchText(port: number): Promise<string> {
  const request = get({ host: '127.0.0.1', port, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
}

const isWine = process.env['WINEPREFIX'] !== undefined;

describe('the daemon on Windows', () => {
  const workspace = new WindowsWorkspace();
  const tool = workspace.program('tool');
  const show = workspace.script('show', SHOW);
  const family = workspace.script('family', FAMILY);
  const environment = workspace.script(
    'environment',
    'process.stdout.write(JSON.stringify(process.env));',
  );
  const exit = workspace.script('exit', 'process.exit(Number(process.argv[2]) | 0);');
  const web = createServer((_request, response) => response.end('from the host'));
  let config: string;
  let daemon: RunningProgram;

  const startDaemon = async (): Promise<RunningProgram> => {
    const started = workspace.start('srv', 'app', 'run', '--config', config);
    await started.said('"msg":"ready"');
    return started;
  };
  const run = (...args: string[]) => workspace.client('prc', 'run', '--path', tool, ...args);
  /** Starts a run; returns its client and the PIDs of the program, its child, and its detached child. */
  const startFamily = async (): Promise<{ client: RunningProgram; pids: number[] }> => {
    const client = run('--', family);
    const pids = (): number[] => client.stdout().trim().split(/\s+/).filter(Boolean).map(Number);
    await until(() => pids().length === 3);
    return { client, pids: pids() };
  };

  before(async () => {
    process.env['WINS_E2E_SECRET'] = 'x';
    await once(web.listen(0, '127.0.0.1'), 'listening');
    config = workspace.config(
      [{ path: tool, envs: ['E2E_*'] }],
      [(web.address() as AddressInfo).port],
    );
    daemon = await startDaemon();
  });
  after(async () => {
    web.close();
    await workspace.remove();
  });

  it('hands over arguments as they are: blanks, quotes, backslashes at the end, nothing, Unicode', async () => {
    const args = ['a b', 'say "hi"', 'C:\\tail\\', 'a\\"b', '', 'Zoë ∑ 日本', '%PATH%', '^&|<>'];
    const { code, stdout, stderr } = await run('--envs', 'E2E_VALUE=x', '--', show, ...args)
      .outcome;
    assert.equal(stderr, 'and this');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(String(stdout)), {
      args,
      cwd: workspace.path('programs'),
      env: 'x',
    });
  });

  it('gives a program where Windows is and folders of its own, and nothing of the daemon (A41)', async () => {
    const { code, stdout } = await run('--', environment).outcome;
    assert.equal(code, 0);
    const found = JSON.parse(String(stdout)) as Record<string, string>;
    const has = (name: string): boolean =>
      Object.keys(found).some((key) => key.toUpperCase() === name.toUpperCase());
    for (const name of ['SystemRoot', 'ComSpec', 'PATH', 'PATHEXT', 'ProgramData', 'OS']) {
      assert.ok(has(name), name);
    }
    for (const name of ['USERPROFILE', 'APPDATA', 'USERNAME', 'WINS_E2E_SECRET']) {
      assert.ok(!has(name), name);
    }
    assert.match(found['TEMP'] ?? '', /\\wins\\state\\.*\\temp$/);
  });

  for (const code of [300, 0xffffffff]) {
    it(`ends with the exit code of the program: ${code}`, async () => {
      const outcome = await run('--', exit, String(code)).outcome;
      assert.equal(outcome.code, code, outcome.stderr);
    });
  }

  it('starts a run that exposes ports, and warns where the firewall filters nothing, as in Wine', async () => {
    const { code, stdout, stderr } = await run('--exposes', 'TCP:9796 UDP:53', '--', show).outcome;
    assert.equal(code, 0, stderr);
    assert.match(String(stdout), /"args":\[\]/);
    const isOff = stderr.includes('wins: warning: no port was opened, because ');
    if (isWine) assert.match(stderr, /because (this host has no|the) firewall service \(MpsSvc\)/);
    const audit = await workspace.start('srv', 'audit', 'show', '--config', config, '-o', 'json')
      .outcome;
    const records = String(audit.stdout)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const start = records.find(({ kind, exposes }) => kind === 'start' && exposes !== undefined);
    assert.deepEqual(start?.['exposes'], ['tcp 9796', 'udp 53']);
    assert.equal(start['ports'], isOff ? 'notNeeded' : 'opened');
    if (isOff) await daemon.said('"type":"portsNotOpened"');
  });

  // Other spellings are in process-host.windows-spec.ts.
  it('refuses what is not listed, by its own name and by another spelling', async () => {
    const other = workspace.program('other');
    for (const path of [other, `${tool}.`]) {
      const outcome = await workspace.client('prc', 'run', '--path', path, '--', show).outcome;
      assert.notEqual(outcome.code, 0, path);
      assert.equal(String(outcome.stdout), '', path);
    }
  });

  it('opens its pipes to whom the config names, and wins doctor knows it', async () => {
    const other = new WindowsWorkspace();
    try {
      const pipeAccess = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)(A;;0x12019b;;;BU)';
      const named = other.config([tool], [], { pipeAccess });
      await other.start('srv', 'app', 'run', '--config', named).said('"msg":"ready"');
      const report = async (): Promise<string> =>
        String((await other.run('doctor', '--config', named)).stdout);
      assert.match(await report(), /^ok +pipe .*accepts connections for gRPC: .*BU/m);
      other.config([tool]);
      assert.match(await report(), /^problem +pipe .*S-1-5-32-545 can use it/m);
      other.config([tool], [], { pipeAccess: 'D:P(A;;GA;;;SY)' });
      assert.match(
        await report(),
        /^problem +pipe .*pipeAccess in the config is D:P\(A;;GA;;;SY\)/m,
      );
    } finally {
      await other.remove();
    }
  });

  it('ends the whole tree when the client is killed', async () => {
    const { client, pids } = await startFamily();
    client.child.kill('SIGKILL');
    await until(() => !pids.some(isAlive));
  });

  it('ends the whole tree when the daemon is killed, and its client says so', async () => {
    const { client, pids } = await startFamily();
    daemon.child.kill('SIGKILL');
    await until(() => !pids.some(isAlive));
    const { code, stderr } = await client.outcome;
    assert.equal(code, 125);
    assert.match(stderr, /connection to the daemon .* was lost/);
    daemon = await startDaemon();
  });

  it('brings a port of the host to the client, which finds the daemon again after it died', async () => {
    const [port] = await freePorts(1);
    const target = (web.address() as AddressInfo).port;
    const client = workspace.client('proxy', '--publish', `TCP:${port}:${target}`);
    await client.said('the tunnel is ready');
    const fetched = (): Promise<string> => fetchText(Number(port));
    assert.equal(await fetched(), 'from the host');
    daemon.child.kill('SIGKILL');
    await daemon.outcome;
    daemon = await startDaemon();
    await client.said('the tunnel is back');
    assert.equal(await fetched(), 'from the host');
    client.child.kill('SIGKILL');
    await client.outcome;
  });
});
