import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const json = (stdout: Buffer): unknown => JSON.parse(stdout.toString());
const SERVER = 'rancher_wins';

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
  async function putInForce(more: object): Promise<void> {
    write(more);
    expect((await wins('srv', 'config', 'reload')).code).toBe(0);
  }

  it('reloads the config by SIGHUP, and the daemon lives (6)', async () => {
    const lines = daemon.log.length;
    write({ debug: true });
    daemon.child.kill('SIGHUP');
    const changed = await daemon.logged(({ msg }) => msg === 'config changed', lines);
    expect(changed['changed']).toEqual(['debug']);
    expect((await wins('cli', 'app', 'info')).code).toBe(0);
  });

  it('reloads the config by a command, which says what changed and what needs a restart', async () => {
    await putInForce({ debug: true });
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
    await putInForce({ routes: { allow: ['10.42.0.0/16'] } });
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
      allowed: false,
      code: 'port-not-listed',
      entry: { key: '', file: config },
      nextStep: 'add it to white_list.proxyPorts',
      udp: { allowed: false, code: 'port-not-listed' },
    });
  });

  it('gets an answer about UDP ports too, and about relays that listen there', async () => {
    const file = path.join(path.dirname(config), 'udp');
    const ports = [{ proto: 'udp', listen: '0.0.0.0:5353', to: '192.0.2.9:53' }];
    const content = { white_list: { proxyUdpPorts: [5353] }, hostNetwork: { ports } };
    writeFileSync(file, JSON.stringify(content, undefined, 1), { mode: 0o600 });
    const { code, stdout } = await wins(
      'srv',
      'config',
      'explain',
      '--config',
      file,
      '--port',
      '5353',
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
    expect(stdout.toString()).toContain(`→ wins doctor --config ${config}`);
  });

  it('leaves no audit record by asking', async () => {
    expect((await wins('cli', 'explain', '--path', tool)).code).toBe(0);
    const { stdout } = await wins('srv', 'audit', 'show', '--config', config, '-o', 'json');
    const kinds = stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    const others = kinds.filter((kind) => kind !== 'configChanged');
    expect(new Set(others)).toEqual(new Set(['opened', 'started']));
  });
});
