import { once } from 'node:events';
import { createServer } from 'node:net';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

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

  it('learns from check and daemon about refused values (4)', async () => {
    // No daemon has served with this file, so there is no earlier config to fall back to.
    const listen = workspace.write('wrong', JSON.stringify({ listen: 'a/b' }));
    const refused = await Daemon.launch(workspace, listen).outcome;
    const checked = await check(listen);
    expect([refused.code, checked.code]).toEqual([78, 78]);
    const problem = 'listen: found "a/b": ';
    expect(checked.stderr).toContain(problem);
    expect(refused.stderr.replaceAll('\\"', '"')).toContain(problem);
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
      valid: false,
      problems: [{ code: 'notRegularFile' }],
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
