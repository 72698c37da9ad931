import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

interface Problem {
  readonly severity: string;
  readonly key: string;
  readonly line?: number;
  readonly nextStep: string;
}

const json = (stdout: Buffer): unknown => JSON.parse(stdout.toString());

describe('a first user of the config', () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = new Workspace();
  });
  afterAll(() => workspace[Symbol.dispose]());
  const wins = (...args: string[]) => runWins(args, workspace.environment);
  const check = (config: string, ...more: string[]) =>
    wins('srv', 'config', 'check', '--config', config, ...more);

  it('is warned of csi-proxy, and of an agent that does nothing, by check and doctor (1)', async () => {
    const csi = { url: 'https://example.com/%s', version: 'v1.1.3', kubeletPath: '/k' };
    const more = { systemagent: { remoteEnabled: false }, 'csi-proxy': csi };
    const config = workspace.config(['/usr/bin/true'], more);
    const { code, stderr } = await check(config);
    expect(code).toBe(0);
    expect(stderr).toContain('csi-proxy: found a section for Windows nodes, on linux');
    expect(stderr).toContain(
      'systemagent: found that neither remoteEnabled nor localEnabled is true',
    );
    const { stdout } = await wins('doctor', '--config', config);
    expect(stdout.toString()).toMatch(
      /^warning +config +\S+ systemagent: [^]*→ correct it: no plan is applied/m,
    );
  });

  it.each([
    ['check', ['srv', 'config', 'check']],
    ['run', ['srv', 'app', 'run']],
    ['--register', ['srv', 'app', 'run', '--register']],
  ])('is told by %s that a config that was named does not exist (3)', async (_name, words) => {
    const { code, stderr } = await wins(...words, '--config', workspace.path('nope'));
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(/nope: found no such file, .*write/),
    ]);
  });

  it('learns from check and daemon about refused values and entries that never match (4)', async () => {
    // No daemon has served with this file, so there is no earlier config to fall back to.
    const listen = workspace.write('wrong', JSON.stringify({ listen: 'a/b' }));
    const refused = await Daemon.launch(workspace, listen).outcome;
    const checked = await check(listen);
    expect([refused.code, checked.code]).toEqual([78, 78]);
    const problem = 'listen: found "a/b": ';
    expect(checked.stderr).toContain(problem);
    expect(refused.stderr.replaceAll('\\"', '"')).toContain(problem);

    mkdirSync(workspace.path('folder'));
    const never = ['tool.sh', '../x', '/a/../b', `${workspace.path('folder')}/`, '/opt/x/*'];
    const config = workspace.config([...never, workspace.path('folder')]);
    const { code, stderr } = await check(config);
    expect(code).toBe(78);
    await using daemon = await Daemon.start(workspace, config);
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const key = `white_list.processPaths[${index}]`;
      expect(stderr).toContain(`${key}: found `);
      const warning = await daemon.logged((record) => record['key'] === key);
      expect(warning).toMatchObject({ level: 'warn', msg: 'this entry can never match' });
    }
  });

  it('reads the problems as JSON, also of a file that cannot be read (5)', async () => {
    const config = workspace.write('config', 'debug: maybe\nwhite_list:\n  processPaths: [x]\n');
    const { code, stdout } = await check(config, '-o', 'json');
    const { valid, problems } = json(stdout) as { valid: boolean; problems: Problem[] };
    expect([code, valid]).toEqual([78, false]);
    expect(problems).toMatchObject([
      { severity: 'error', code: 'wrongType', key: 'debug', line: 1, column: 8 },
    ]);
    expect(problems[0]?.nextStep).toMatch(/config explain/);
    const unreadable = await check(workspace.folder, '-o', 'json');
    expect(unreadable.code).toBe(78);
    expect(json(unreadable.stdout)).toMatchObject({
      ...{ valid: false, problems: [{ code: 'notRegularFile' }] },
    });
  });

  it('gets advice from the doctor that helps: a broken config once, a silent socket, a link (10)', async () => {
    const broken = workspace.write('broken', 'debug: maybe\n');
    const { stdout } = await wins('doctor', '--config', broken);
    expect(stdout.toString().match(/^problem +config/gm)).toHaveLength(1);
    expect(stdout.toString()).not.toContain('no program may run');

    const socket = workspace.path('silent');
    const server = createServer(() => undefined);
    await once(server.listen(socket), 'listening');
    const config = workspace.config(['/bin/true'], { listen: socket });
    const silent = await wins('doctor', '--config', config);
    server.close();
    expect(silent.stdout.toString()).toMatch(
      /does not answer: .*: it accepted the connection but did not answer within 5 s[^]*→ see its log/,
    );
    expect(silent.stdout.toString()).not.toContain('cancelled');
  });

  it('finds the path of the config in the help (12)', async () => {
    const { stdout } = await wins('srv', 'config', 'check', '--help');
    expect(stdout.toString()).toContain('/etc/rancher/wins/config');
  });

  it('asks what a key means, in any spelling', async () => {
    const { stdout } = await wins('srv', 'config', 'explain', 'whiteList.proxy-ports');
    expect(stdout.toString()).toMatch(
      /^white_list\.proxyPorts\n {2}Host TCP ports[^]*type: .*1 to 65535\n {2}default: +\[\]\n {2}since: +0\.1\.0\n {2}spelling: .*proxy_ports/,
    );
    const { code, stderr } = await wins('srv', 'config', 'explain', 'proxyPort');
    expect([code, stderr]).toEqual([64, expect.stringMatching(/; did you mean proxyPorts\? Run /)]);
  });
});

describe('a first user of a daemon that runs', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let config: string;
  let tool: string;
  const write = (more: object = {}) => workspace.config([tool], { ...more });
  beforeAll(async () => {
    workspace = new Workspace();
    tool = workspace.script('tool', 'exit 0');
    config = write();
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon.stop();
    workspace[Symbol.dispose]();
  });
  const wins = (...args: string[]) => runWins(args, workspace.environment);

  it('reloads the config by SIGHUP, and the daemon lives (6)', async () => {
    const lines = daemon.log.length;
    write({ debug: true });
    daemon.child.kill('SIGHUP');
    const changed = await daemon.logged(({ msg }) => msg === 'config changed', lines);
    expect(changed['changed']).toEqual(['debug']);
    expect((await wins('cli', 'app', 'info')).code).toBe(0);
  });

  it('reloads the config by a command, which says what changed and what needs a restart', async () => {
    write({ reflection: true, routes: { allow: ['10.42.0.0/16'] } });
    const { code, stdout } = await wins('srv', 'config', 'reload', '--config', config);
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(
      /config is in force; changed:\n {2}debug: true → false\n {2}routes\.allow: added "\S+"\n {2}reflection: false → true\neffective after a restart of the daemon: reflection\n$/,
    );
    const again = await wins('srv', 'config', 'reload');
    expect(again.stdout.toString()).toContain('nothing changed');
  });

  it('says what changed also if the daemon read the file before the command', async () => {
    const lines = daemon.log.length;
    write({ routes: { allow: ['10.43.0.0/16'] } });
    await daemon.logged(({ msg }) => msg === 'config changed', lines);
    const { stdout } = await wins('srv', 'config', 'reload');
    expect(stdout.toString()).toContain(
      'routes.allow: removed "10.42.0.0/16", added "10.43.0.0/16"',
    );
  });

  it('reads the problem of a config that cannot be reloaded, and the old config stays', async () => {
    workspace.write('config', 'debug: maybe\n');
    const { code, stdout, stderr } = await wins('srv', 'config', 'reload', '-o', 'json');
    expect([code, json(stdout)]).toEqual([78, expect.objectContaining({ valid: false })]);
    expect(stderr).toContain(`${config}:1:8: debug: found "maybe"`);
    const explained = await wins('srv', 'config', 'explain', '--path', tool, '--server', SERVER);
    expect(explained.stdout.toString()).toMatch(
      /: allowed\n {2}by white_list\.processPaths\[0\] of/,
    );
    write();
  });

  it('asks whether a program and a port would be allowed, from the file', async () => {
    const explain = (...words: string[]) =>
      wins('srv', 'config', 'explain', '--config', config, ...words);
    const allowed = await explain('--path', tool);
    expect([allowed.code, allowed.stdout.toString()]).toEqual([
      0,
      `${tool}: allowed\n  by white_list.processPaths[0] of ${config}, line 4\n`,
    ]);
    const { code, stdout } = await explain('--port', '9796', '-o', 'json');
    expect(code).toBe(126);
    expect(json(stdout)).toMatchObject({
      ...{ allowed: false, code: 'port-allowed', entry: { key: '', file: config } },
      nextStep: 'add it to white_list.proxyPorts',
      udp: { allowed: false, code: 'port-allowed' },
    });
  });

  it('gets an answer about UDP ports too, and about relays that listen there', async () => {
    const file = path.join(path.dirname(config), 'udp');
    const ports = [{ proto: 'udp', listen: '0.0.0.0:5353', to: '192.0.2.9:53' }];
    const content = { white_list: { proxyUdpPorts: [5353] }, hostNetwork: { ports } };
    writeFileSync(file, JSON.stringify(content, undefined, 1), { mode: 0o600 });
    const { code, stdout } = await wins(
      ...['srv', 'config', 'explain', '--config', file, '--port', '5353'],
    );
    expect(code).toBe(126);
    expect(stdout.toString().split('\n').slice(-3)).toEqual([
      `  UDP: allowed by white_list.proxyUdpPorts[0] of ${file}, line 4`,
      `  relayed: udp 0.0.0.0:5353 to 192.0.2.9:53 by hostNetwork.ports[0] of ${file}, line 11`,
      '',
    ]);
  });

  it('asks as a client, and on the host reads the entry', async () => {
    const { code, stdout } = await wins('cli', 'explain', '--path', tool);
    expect(code).toBe(0);
    expect(json(stdout)).toMatchObject({ allowed: true, entry: { file: config, line: 4 } });
    const refused = await wins('cli', 'explain', '--path', '/usr/bin/true', '-o', 'text');
    expect(refused.code).toBe(126);
    expect(refused.stdout.toString()).toMatch(/^\/usr\/bin\/true: not allowed\n {2}cannot run/);
  });

  const inContainer = wherePossible(
    it,
    mayMakeContainer(),
    'what a container learns of the config: this user may not make one',
  );
  inContainer(
    'learns nothing of the config in a container, and reloads nothing from there',
    async () => {
      const from = (...words: string[]) =>
        startInContainer([WINS, ...words], workspace.environment).outcome;
      const { stdout } = await from('cli', 'explain', '--path', tool);
      expect(json(stdout)).toEqual({ subject: tool, allowed: true, code: '', reason: '' });
      const { code, stderr } = await from('srv', 'config', 'reload', '--server', SERVER);
      expect([code, stderr]).toEqual([77, expect.stringContaining('administrator of the host')]);
    },
  );

  it('learns from the doctor that the daemon has another config (10)', async () => {
    const other = workspace.write('other', '');
    const { stdout } = await wins('doctor', '--config', other);
    expect(stdout.toString()).toContain(`the daemon uses the config ${config}`);
    expect(stdout.toString()).toContain(`→ wins doctor --config "${config}"`);
  });

  it('leaves no audit record by asking', async () => {
    const { stdout } = await wins('srv', 'audit', 'show', '--config', config, '-o', 'json');
    const kinds = stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(new Set(kinds)).toEqual(new Set(['opened', 'started', 'configChanged']));
  });
});

const SERVER = 'rancher_wins';
