// This file is long because it is one list of all commands.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { Outcome, RunningProgram } from './built-program.js';
import { freePorts } from './tunnel/tunnel.js';

/** A host on which each command can be tried. The daemon and the client are the same executable. */
export interface CommandHost {
  /** Starts the program under test. The host's creator ends the process. */
  start(...args: string[]): RunningProgram;
  readonly server: string;
  readonly proxy: string;
  readonly config: string;
  readonly brokenConfig: string;
  /** SHA-1 of the program under test. */
  readonly sha1: string;
  /** A program that the daemon may run. `greet` makes it print `hello` and exit with 7; `stay` makes it print `up` and keep running. */
  readonly tool: string;
  readonly greet: readonly string[];
  readonly stay: readonly string[];
  /** Copy of the program under test, at a path that the daemon may run. */
  readonly upgrader: string;
  readonly isService: boolean;
  /** Options that name the service. */
  readonly service: readonly string[];
  readonly adapter: readonly string[];
  readonly echoPort: number;
}

const ONE_LINE = /^wins: [^\n]+\n$/;

async function run(host: CommandHost, code: number, ...args: string[]): Promise<Outcome> {
  const outcome = await host.start(...args).outcome;
  assert.equal(outcome.code, code, `${args.join(' ')}: ${outcome.code}: ${outcome.stderr}`);
  return outcome;
}

async function print(host: CommandHost, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(host, 0, ...args);
  assert.equal(stderr, '');
  return String(stdout);
}

/** Runs a command that must fail with one line on standard error, and returns that line. */
async function fail(host: CommandHost, code: number, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(host, code, ...args);
  assert.equal(String(stdout), '');
  assert.match(stderr, ONE_LINE);
  return stderr;
}

async function noAgent(host: CommandHost, ...args: string[]): Promise<void> {
  const { config, server } = host;
  const words = ['srv', 'plan', ...args, '--config', config, '--server', server];
  const { code, stderr } = await host.start(...words).outcome;
  assert.deepEqual([code, /the agent is disabled/.test(stderr)], [69, true], stderr);
}

function diagnosis(host: CommandHost, ...args: string[]): Promise<string> {
  const { config, server } = host;
  return print(host, 'srv', 'debug', ...args, '--config', config, '--server', server);
}

const json = (text: string): unknown => JSON.parse(text);
const on = ({ server }: CommandHost) => ['--server', server];
const runTool = (host: CommandHost, words: readonly string[]) =>
  host.start('cli', 'prc', 'run', ...on(host), '--path', host.tool, '--', ...words);

async function stayingTool(host: CommandHost): Promise<{ client: RunningProgram; name: string }> {
  const client = runTool(host, host.stay);
  await client.printed('up');
  const listed = json(await print(host, 'cli', 'prc', 'ls', ...on(host))) as { name: string }[];
  assert.equal(listed.length, 1);
  return { client, name: listed[0]?.name ?? '' };
}

const DETACHED = 'detached';

async function detachedTool(host: CommandHost): Promise<void> {
  const started = ['cli', 'prc', 'run', '--detach', '--name', DETACHED, ...on(host)];
  const words = [...started, '--path', host.tool, '--', ...host.greet];
  assert.equal(await print(host, ...words), `${DETACHED}\n`);
}

async function forgetDetached(host: CommandHost, words: readonly string[]): Promise<void> {
  assert.equal(await print(host, 'cli', 'prc', 'rm', DETACHED, ...on(host)), '');
  await fail(host, 127, ...words);
}

/** Runs a node command with `--dry-run`. The command fails if nothing is installed, and on systems other than Windows. */
async function planNode(host: CommandHost, command: string): Promise<void> {
  const { code, stdout, stderr } = await host.start(command, '--dry-run').outcome;
  if (process.platform !== 'win32') assert.match(stderr, /WINS_NODE_ROOT names none/);
  assert.ok(code === 65 || (code === 0 && process.platform === 'win32'), `${command}: ${code}`);
  if (code === 0) assert.deepEqual([stderr, String(stdout) === ''], ['', false]);
  else assert.match(stderr, ONE_LINE);
}

/** The suites fail if a command has no check. */
export const EVERY_COMMAND: Readonly<Record<string, (host: CommandHost) => Promise<void>>> = {
  'cli app info': async (host) => {
    const info = json(await print(host, 'cli', 'app', 'info', ...on(host))) as {
      Client: { Checksum: string; Version: string };
      Server: { Checksum: string; Version: string };
    };
    assert.deepEqual([info.Client.Checksum, info.Server.Checksum], [host.sha1, host.sha1]);
    assert.equal(info.Client.Version, info.Server.Version);
    const table = await print(host, 'cli', 'application', 'info', ...on(host), '-o', 'table');
    assert.match(table, /^SIDE +VERSION/);
  },
  'cli prc run': async (host) => {
    const { code, stdout, stderr } = await runTool(host, host.greet).outcome;
    assert.deepEqual([code, String(stdout).trim(), stderr], [7, 'hello', '']);
    const unlisted = await fail(host, 126, 'cli', 'prc', 'run', ...on(host), '--path', host.config);
    assert.match(unlisted, /refused/);
  },
  'cli prc ls': async (host) => {
    const { client } = await stayingTool(host);
    client.child.kill('SIGKILL');
    await client.outcome;
    while ((await print(host, 'cli', 'process', 'ls', ...on(host))) !== '[]\n');
  },
  'cli prc stats': async (host) => {
    const { client, name } = await stayingTool(host);
    const words = ['cli', 'prc', 'stats', name, ...on(host)];
    const [measured] = json(await print(host, ...words)) as { name: string; processes: number }[];
    assert.equal(measured?.name, name);
    assert.ok(measured.processes >= 1, String(measured.processes));
    client.child.kill('SIGKILL');
    await client.outcome;
    while ((await print(host, 'cli', 'prc', 'ls', ...on(host))) !== '[]\n');
    await fail(host, 127, ...words);
  },
  'cli prc top': async (host) => {
    const { client, name } = await stayingTool(host);
    const top = host.start('cli', 'prc', 'top', ...on(host));
    await top.printed(name);
    for (const { child } of [top, client]) child.kill('SIGKILL');
    await Promise.all([top.outcome, client.outcome]);
    while ((await print(host, 'cli', 'prc', 'ls', ...on(host))) !== '[]\n');
  },
  'cli prc stop': async (host) => {
    const { client, name } = await stayingTool(host);
    const stopped = json(await print(host, 'cli', 'prc', 'stop', name, ...on(host)));
    assert.equal((stopped as { reason: string }).reason, 'stopped');
    const { code, stderr } = await client.outcome;
    assert.notEqual(code, 0);
    assert.match(stderr, /was stopped: stopped\n$/);
    await fail(host, 127, 'cli', 'prc', 'stop', name, ...on(host));
  },
  'cli prc logs': async (host) => {
    await detachedTool(host);
    const words = ['cli', 'prc', 'logs', '-f', DETACHED, ...on(host)];
    assert.equal((await print(host, ...words)).trim(), 'hello');
    await forgetDetached(host, words);
  },
  'cli prc attach': async (host) => {
    await detachedTool(host);
    const words = ['cli', 'prc', 'attach', DETACHED, ...on(host)];
    await run(host, 7, ...words);
    await forgetDetached(host, words);
  },
  'cli prc wait': async (host) => {
    await detachedTool(host);
    const words = ['cli', 'prc', 'wait', DETACHED, ...on(host)];
    await run(host, 7, ...words);
    await forgetDetached(host, words);
  },
  'cli prc start': async (host) => {
    await detachedTool(host);
    await run(host, 7, 'cli', 'prc', 'wait', DETACHED, ...on(host));
    const words = ['cli', 'prc', 'start', DETACHED, ...on(host)];
    assert.equal(await print(host, ...words), '');
    const logs = ['cli', 'prc', 'logs', '-f', DETACHED, ...on(host)];
    assert.deepEqual((await print(host, ...logs)).trim().split(/\s+/), ['hello', 'hello']);
    await forgetDetached(host, words);
  },
  'cli prc restart': async (host) => {
    await detachedTool(host);
    const words = ['cli', 'prc', 'restart', DETACHED, ...on(host)];
    assert.equal(await print(host, ...words), '');
    await run(host, 7, 'cli', 'prc', 'wait', DETACHED, ...on(host));
    await forgetDetached(host, words);
  },
  'cli prc inspect': async (host) => {
    await detachedTool(host);
    const words = ['cli', 'prc', 'inspect', DETACHED, ...on(host)];
    const { args, name, restartPolicy } = json(await print(host, ...words)) as {
      args: unknown;
      name: string;
      restartPolicy: string;
    };
    assert.deepEqual(
      { args, name, restartPolicy },
      { args: host.greet, name: DETACHED, restartPolicy: 'no' },
    );
    await forgetDetached(host, words);
  },
  'cli prc rm': async (host) => {
    await detachedTool(host);
    await forgetDetached(host, ['cli', 'prc', 'rm', DETACHED, ...on(host)]);
  },
  'cli explain': async (host) => {
    const allowed = await print(host, 'cli', 'explain', ...on(host), '--path', host.tool);
    assert.equal((json(allowed) as { allowed: boolean }).allowed, true);
    const words = ['cli', 'explain', ...on(host), '--path', `${host.tool}.not`, '-o', 'text'];
    assert.match(String((await run(host, 126, ...words)).stdout), /: not allowed\n/);
    await fail(host, 64, 'cli', 'explain', ...on(host));
  },
  'cli proxy': async (host) => {
    const [port = 0] = await freePorts(1);
    const publish = ['--publish', `TCP:${port}:${host.echoPort}`];
    const client = host.start('cli', 'proxy', '--proxy', host.proxy, ...publish);
    await client.said('the tunnel is ready');
    const socket = connect(port, '127.0.0.1');
    socket.end('through the tunnel');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(String(answer), 'through the tunnel');
    await once(socket, 'close');
    client.child.kill('SIGTERM');
    const { code } = await client.outcome;
    if (process.platform !== 'win32') assert.equal(code, 0);
  },
  'cli upgrade': async (host) => {
    const words = ['cli', 'upgrade', ...on(host), '--path', host.upgrader];
    if (host.isService) assert.match(await print(host, ...words), /^wins: nothing: /);
    else assert.match(await fail(host, 126, ...words), /there is no service/);
  },
  'cli deliver': async (host) => {
    const to = `${host.config}.delivered`;
    const words = ['cli', 'deliver', '--from', host.config, '--to', to];
    for (const [outcome, ...more] of [['delivered'], ['unchanged', '--settle', '1ms']] as const) {
      const said = await print(host, ...words, ...more);
      assert.equal(said.replace(/ [0-9a-f]{64}\r?\n$/, ''), `wins: ${outcome}: ${to}`);
    }
    assert.deepEqual(readFileSync(to), readFileSync(host.config));
    await fail(host, 126, ...words, '--sha256', '0'.repeat(64));
    rmSync(to);
  },
  'cli hst get-version': async (host) => {
    const version = json(await print(host, 'cli', 'hst', 'get-version', ...on(host)));
    assert.ok(Object.keys(version as object).length > 0);
  },
  'cli net get': async (host) => {
    const adapter = json(await print(host, 'cli', 'net', 'get', ...on(host), ...host.adapter));
    assert.match((adapter as { AddressCIDR: string }).AddressCIDR, /^\d+\.\d+\.\d+\.\d+\/32$/);
    await fail(host, 127, 'cli', 'net', 'get', ...on(host), '--name', 'no such adapter');
  },
  'cli hns get-network': async (host) => {
    // The host lacks HNS, or at least this network.
    const args = ['cli', 'hns', 'get-network', ...on(host), '--name', 'no such network'];
    const { code, stdout, stderr } = await host.start(...args).outcome;
    assert.ok(code === 125 || code === 127, `${code}: ${stderr}`);
    assert.equal(String(stdout), '');
    assert.match(stderr, ONE_LINE);
  },
  'cli route add': async (host) => {
    const args = ['cli', 'route', 'add', ...on(host), '--addresses', '0.0.0.0/0'];
    assert.match(await fail(host, 125, ...args), /0\.0\.0\.0\/0/);
  },
  'cli route ls': async (host) => {
    assert.ok(Array.isArray(json(await print(host, 'cli', 'route', 'ls', ...on(host)))));
  },
  'cli route rm': async (host) => {
    const args = ['cli', 'route', 'rm', ...on(host), '--addresses', '0.0.0.0/0'];
    assert.match(await fail(host, 125, ...args), /0\.0\.0\.0\/0/);
  },
  'srv app run': async (host) => {
    await run(host, 78, 'srv', 'app', 'run', '--config', host.brokenConfig);
    await fail(host, 64, 'srv', 'app', 'run', '--register', '--unregister');
  },
  'srv audit show': async (host) => {
    const lines = (
      await print(host, 'srv', 'audit', 'show', '--config', host.config, '-o', 'json')
    ).split('\n');
    assert.equal((json(lines[0] ?? '') as { kind: string }).kind, 'opened');
    const table = await print(
      host,
      'srv',
      'audit',
      'show',
      '--config',
      host.config,
      '--since',
      '1h',
    );
    assert.match(table, /^TIME +SEQ +KIND/);
    await fail(host, 64, 'srv', 'audit', 'show', '--config', host.config, '--since', 'ever');
  },
  'srv audit verify': async (host) => {
    const told = await print(host, 'srv', 'audit', 'verify', '--config', host.config);
    assert.match(
      told,
      /unchanged and without a gap; only --expect shows whether newer records were removed\n$/,
    );
    await fail(host, 64, 'srv', 'audit', 'verify', '--directory', `${host.config}.none`);
  },
  'srv config check': async (host) => {
    const told = await print(host, 'srv', 'config', 'check', '--config', host.config);
    assert.ok(told.includes('listen: '), told);
    await run(host, 78, 'srv', 'config', 'check', '--config', host.brokenConfig);
  },
  'srv config explain': async (host) => {
    const meaning = await print(host, 'srv', 'config', 'explain', 'whiteList.proxyPorts');
    assert.match(meaning, /^white_list\.proxyPorts\n {2}Host TCP ports/);
    const { config } = host;
    const words = [
      'srv',
      'config',
      'explain',
      '--config',
      config,
      '--path',
      host.tool,
      '-o',
      'json',
    ];
    assert.equal((json(await print(host, ...words)) as { allowed: boolean }).allowed, true);
    await fail(host, 64, 'srv', 'config', 'explain', 'nonsense');
  },
  'srv config reload': async (host) => {
    const { config, server } = host;
    const words = ['srv', 'config', 'reload', '--config', config, '--server', server];
    const { code, stdout, stderr } = await host.start(...words).outcome;
    assert.deepEqual([code, /is in force; /.test(String(stdout))], [0, true], stderr);
  },
  'srv config schema': async (host) => {
    const schema = json(await print(host, 'srv', 'config', 'schema'));
    assert.ok(JSON.stringify(schema).includes('white_list'));
  },
  'srv events': async (host) => {
    const { config, server } = host;
    const words = ['srv', 'events', '--config', config, '--server', server];
    const { code, stdout } = await host.start(...words).outcome;
    assert.deepEqual([code, /^TIME +SEQ +EVENT[^]* started /.test(String(stdout))], [0, true]);
    await fail(host, 64, 'srv', 'events', '--config', config, '--since', 'ever');
  },
  'srv plan apply': async (host) => {
    await noAgent(host, 'apply', '--dry-run', '--file', host.brokenConfig);
    await fail(host, 64, 'srv', 'plan', 'apply', '--file', `${host.config}.none`);
  },
  'srv plan history': (host) => noAgent(host, 'history'),
  'srv plan show': (host) => noAgent(host, 'show'),
  'srv plan status': async (host) => {
    const { config, server } = host;
    const words = ['srv', 'plan', 'status', '--config', config, '--server', server];
    const { code, stdout, stderr } = await host.start(...words).outcome;
    assert.deepEqual(
      [code, /^this node follows no plan: /.test(String(stdout))],
      [0, true],
      stderr,
    );
  },
  'srv registry check': async (host) => {
    const words = ['srv', 'registry', 'check', '127.0.0.1:1/some/img:v1', '--config', host.config];
    const { code, stdout, stderr } = await host.start(...words).outcome;
    assert.deepEqual([code, /: not found$/m.test(String(stdout))], [1, true], stderr);
    await fail(host, 64, 'srv', 'registry', 'check', 'a b', '--config', host.config);
  },
  'srv csi-proxy apply': async (host) => {
    const { config, server } = host;
    for (const words of [[], ['--dry-run']]) {
      const on = ['--config', config, '--server', server];
      const asked = host.start('srv', 'csi-proxy', 'apply', ...words, ...on);
      const { code, stderr } = await asked.outcome;
      assert.deepEqual([code, /csi-proxy is disabled/.test(stderr)], [69, true], stderr);
    }
  },
  'srv csi-proxy status': async (host) => {
    const { config, server } = host;
    const words = ['srv', 'csi-proxy', 'status', '--config', config, '--server', server];
    const { code, stdout, stderr } = await host.start(...words).outcome;
    assert.deepEqual([code, /^csi-proxy is not managed: /.test(String(stdout))], [0, true], stderr);
  },
  ...Object.fromEntries(
    ['apply', 'plan', 'teardown'].map((name) => [
      `srv network ${name}`,
      async (host) => {
        const on = ['--config', host.config, '--server', host.server];
        const { code, stderr } = await host.start('srv', 'network', name, ...on).outcome;
        assert.deepEqual([code, /the host is not managed/.test(stderr)], [69, true], stderr);
      },
    ]),
  ),
  'srv network status': async (host) => {
    const words = ['srv', 'network', 'status', '--config', host.config, '--server', host.server];
    const { code, stdout, stderr } = await host.start(...words).outcome;
    const isOff = /^the network of the host is not managed: /.test(String(stdout));
    assert.deepEqual([code, isOff], [0, true], stderr);
  },
  'srv metrics': async (host) => {
    const words = ['srv', 'metrics', '--config', host.config, '--server', host.server];
    const { code, stderr } = await host.start(...words).outcome;
    assert.deepEqual([code, /metrics are disabled/.test(stderr)], [69, true], stderr);
  },
  ...Object.fromEntries(
    (
      [
        ['stacks', /^stacks of the JavaScript thread within 0\.1 s\n/, '--seconds', '0.1'],
        ['report', /^\{\n {2}"header": \{/],
        ['handles', /^\[/],
        ['connections', /^\[/],
        ['runs', /^\[/],
        ['streams', /^\[/],
        ['log-level', /^the level is info\n$/],
      ] as const
    ).map(([name, answer, ...words]) => [
      `srv debug ${name}`,
      async (host: CommandHost) => {
        assert.match(await diagnosis(host, name, ...words), answer);
      },
    ]),
  ),
  ...Object.fromEntries(
    ([['heap'], ['cpu', '--seconds', '0.1'], ['trace', '--seconds', '0.1']] as const).map(
      ([name, ...words]) => [
        `srv debug ${name}`,
        async (host: CommandHost) => {
          const file = `${host.config}.${name}`;
          await diagnosis(host, name, file, ...words);
          assert.ok(json(readFileSync(file, 'utf8')));
          rmSync(file);
        },
      ],
    ),
  ),
  up: async (host) => {
    await fail(host, 64, 'up', 'and', 'away');
    await fail(host, 65, 'up', '--sha256', '0'.repeat(64), ...host.service);
    json(await print(host, 'up', '--show-result', '--json', ...host.service));
    const dry = await run(host, host.isService ? 0 : 65, 'up', '--dry-run', ...host.service);
    const wanted = host.isService ? /^nothing to do: the release / : /there is no service/;
    assert.match(String(dry.stdout), wanted);
    assert.equal(dry.stderr, '');
  },
  install: (host) => planNode(host, 'install'),
  join: async (host) => {
    assert.match(await fail(host, 64, 'join'), /cannot read CATTLE_SERVER: found no value/);
  },
  leave: (host) => planNode(host, 'leave'),
  uninstall: (host) => planNode(host, 'uninstall'),
  suc: (host) => planNode(host, 'suc'),
  status: async (host) => {
    const { stdout } = await host.start('status', '--json', '--config', host.config).outcome;
    const { findings } = json(String(stdout)) as { findings: { check: string; level: string }[] };
    assert.ok(findings.some(({ check, level }) => check === 'daemon' && level === 'ok'));
    const file = `${host.config}.html`;
    const words = ['status', '--config', host.config, '--html', file];
    await host.start(...words).outcome;
    assert.match(
      readFileSync(file, 'utf8'),
      /^<!doctype html>[^]*The daemon of this node has told its state/,
    );
    await fail(host, 64, ...words);
    rmSync(file);
  },
  logs: async (host) => {
    const { code, stdout, stderr } = await host.start('logs', '--config', host.config).outcome;
    // There may be no log file, because the daemon may log to the program that started it.
    if (code === 0) assert.match(String(stdout), /"msg":/);
    else assert.match(`${code} ${stderr}`, /^69 wins: cannot read the log: [^\n]+\n$/);
  },
  doctor: async (host) => {
    const { code, stdout } = await host.start('doctor', '--json', '--config', host.config).outcome;
    const { findings } = json(String(stdout)) as { findings: { check: string; level: string }[] };
    assert.ok(code === 0 || (code === 1 && !host.isService), String(stdout));
    assert.ok(findings.some(({ check, level }) => check === 'daemon' && level === 'ok'));
  },
  'support-bundle': async (host) => {
    const file = `${host.config}.support.tar.gz`;
    const words = ['support-bundle', file, '--config', host.config];
    assert.match(await print(host, ...words), / bytes, \d+ members/);
    await fail(host, 64, ...words);
    rmSync(file);
    await fail(host, 64, 'support-bundle');
  },
  version: async (host) => {
    assert.match(await print(host, 'version'), /^rancher-wins version v\d+\.\d+\.\d+\n$/);
  },
  completion: async (host) => {
    for (const [shell, text] of [
      ['bash', /^complete .* wins$/m],
      ['zsh', /^#compdef wins/],
      ['powershell', /^Register-ArgumentCompleter/m],
    ] as const)
      assert.match(await print(host, 'completion', shell), text);
  },
};
