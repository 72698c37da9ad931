import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { CANARY, NodeWorld, startCluster, type Cluster } from '../testing/node/node-world.js';
import { base64 } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';
import { startProxy, type ProxyDouble } from '@wins/net/testing';
import { createCertificateAuthority } from '@wins/base/testing';

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

function watchProcesses(): { stop(): { readonly commands: string; readonly count: number } } {
  const seen = new Set<string>();
  const look = () => {
    for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      try {
        seen.add(readFileSync(`/proc/${name}/cmdline`, 'latin1'));
      } catch {
        // Already ended.
      }
    }
  };
  const timer = setInterval(look, 25);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      return { commands: [...seen].join('\n'), count: seen.size };
    },
  };
}

describe('a node that joins a server', () => {
  let cluster: Cluster;
  let world: NodeWorld;
  let told = '';
  let commands = '';
  let firstId = '';
  let proxy: ProxyDouble | undefined;
  const ask = async (args: readonly string[], variables: NodeJS.ProcessEnv = {}) => {
    const said = await world.say([...args, '--wait', '8s'], {
      ...cluster.variables,
      ...variables,
    });
    told += JSON.stringify(said);
    return said;
  };
  const registrations = () =>
    cluster.rancher.requests.filter(({ path }) => path === '/v3/connect/agent');

  beforeAll(async () => {
    // The root certificate is not available: daemon and command both trust the intermediate authority.
    const issuing = createCertificateAuthority('issuing', createCertificateAuthority('root'));
    cluster = await startCluster({ authority: issuing });
    world = new NodeWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await proxy?.close();
    await cluster[Symbol.asyncDispose]();
  });

  it('gets a plan in a dry run, and is neither changed nor registered', async () => {
    await world.wins(['install', '--dry-run']);
    const before = world.snapshot();
    const { code, outcome, steps } = await ask(['join', '--dry-run']);
    expect([code, outcome]).toEqual([0, 'planned']);
    expect(steps?.join()).toContain('cattle-id');
    expect(world.snapshot()).toEqual(before);
    expect(registrations()).toEqual([]);
  });

  it.each([
    ['UTF-16', (token: string) => Buffer.from(`\uFEFF${token}\r\n`, 'utf16le'), 0],
    ['UTF-32', () => Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 64],
  ])(
    'reads its token from a file that PowerShell wrote in %s, or says what that is',
    async (name, written, code) => {
      const { CATTLE_TOKEN: token = '', ...others } = cluster.variables;
      writeFileSync(world.path('token'), written(token), { mode: 0o600 });
      const args = ['join', '--dry-run', '--token-file', world.path('token')];
      const said = await world.wins(args, others);
      rmSync(world.path('token'));
      expect(said.code).toBe(code);
      if (code !== 0) expect(said.stderr).toContain(`found ${name}; wanted UTF-8`);
    },
  );

  it('gets program, config, identity and service, and its agent reaches the server', async () => {
    const watch = watchProcesses();
    const said = await ask(['join', '--worker', '--label', 'a=b', '--node-name', 'one']);
    ({ commands } = watch.stop());
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect([world.config, world.nodeId, world.authorities, world.connectionInfo].map(mode)).toEqual(
      ['600', '600', '600', '600'],
    );
    expect(mode(world.program)).toBe('755');
    expect(mode(world.stateFolder)).toBe('700');
    expect(mode(world.path('etc/rancher/wins'))).toBe('700');
    expect(mode(world.path('var/lib/rancher/agent'))).toBe('700');
    firstId = world.text(world.nodeId).trim();
    expect(registrations().map(({ headers }) => headers)).toMatchObject([
      {
        authorization: `Bearer ${CANARY}`,
        'x-cattle-id': firstId,
        'x-cattle-labels': expect.stringContaining('a=b') as string,
        'x-cattle-node-name': 'one',
      },
    ]);
    expect(JSON.parse(world.text(world.connectionInfo))).toEqual(cluster.rancher.connectionInfo);
    expect(world.text(world.authorities)).toBe(cluster.rancher.ca);
    const config = world.text(world.config);
    for (const line of ['remoteEnabled: true', `certFilePath: "${world.authorities}"`]) {
      expect(config).toContain(line);
    }
    expect(world.service).toMatchObject({
      command: `"${world.program}" srv app run --config "${world.config}"`,
      startType: 'automatic',
    });
    expect(Object.keys(world.system.things)).toContain(
      `pathElement ${world.path('usr/local/bin')}`,
    );
    expect(world.text(world.manifest)).toContain('rancher-wins');
    expect(readdirSync(world.stateFolder)).toEqual(['install-manifest.json']);
    expect(cluster.api.requests.length).toBeGreaterThan(0);
  });

  it('applies a plan of the server', async () => {
    const file = world.path('planned');
    const plan = { files: [{ path: file, content: base64('planned'), uid: -1, gid: -1 }] };
    cluster.api.update({ plan: JSON.stringify(plan) });
    await until(() => existsSync(file));
    expect(world.text(file)).toBe('planned');
  });

  it('is unchanged when it joins again, and its daemon keeps running', async () => {
    const { pid } = world;
    const before = world.snapshot();
    const said = await ask(['join', '--worker', '--label', 'a=b', '--node-name', 'one']);
    expect([said.code, said.outcome]).toEqual([0, 'nothing']);
    expect(world.pid).toBe(pid);
    expect(world.snapshot()).toEqual(before);
  });

  it('tells the server other labels and both its addresses, and needs no restart', async () => {
    const { pid } = world;
    const both = { CATTLE_ADDRESS: '10.0.0.5,fd00::5' };
    const args = ['join', '--label', 'c=d', '--internal-address', '127.0.0.1,fe80::1'];
    const said = await ask(args, both);
    expect([said.code, said.outcome]).toEqual([0, 'nothing']);
    const headers = registrations().at(-1)?.headers;
    expect(headers?.['x-cattle-id']).toBe(firstId);
    expect(headers).toMatchObject({
      'x-cattle-labels': expect.stringContaining('c=d') as string,
      'x-cattle-address': '10.0.0.5,fd00::5',
      'x-cattle-internal-address': '127.0.0.1,fe80::1',
    });
    expect(world.pid).toBe(pid);
  });

  it('tells the server the address of an adapter that is named', async () => {
    expect((await ask(['join', '--internal-address', 'lo'])).code).toBe(0);
    const headers = registrations().at(-1)?.headers;
    expect(headers).toMatchObject({ 'x-cattle-internal-address': '127.0.0.1' });
  });

  it('gets another proxy with one restart, and does not reveal its password', async () => {
    const { pid } = world;
    const { port } = new URL(cluster.rancher.url);
    const user = { name: 'user', password: 'canary-of-a-proxy' };
    const server = `rancher.invalid:${port}`;
    proxy = await startProxy({ user, hosts: { [server]: Number(port) } });
    const said = await ask(['join'], {
      CATTLE_SERVER: `https://${server}`,
      HTTPS_PROXY: `http://${user.name}:${user.password}@${proxy.host}`,
    });
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect(world.service?.environment['HTTPS_PROXY']).toContain(user.password);
    expect(proxy.requests.map(({ target }) => target)).toContain(server);
    expect(world.pid).not.toBe(pid);
    expect(world.filesWith(user.password)).toEqual(['system.json']);
    expect(told).not.toContain(user.password);
  });

  it('loses a proxy whose variable is set and empty, and keeps those that are not set', async () => {
    const { pid } = world;
    const both = await ask(['join'], { HTTPS_PROXY: '', NO_PROXY: 'x' });
    expect([both.code, both.outcome]).toEqual([0, 'installed']);
    expect(world.service?.environment).toEqual({ NO_PROXY: 'x' });
    expect(world.pid).not.toBe(pid);
    expect((await ask(['join'])).outcome).toBe('nothing');
    expect(world.service?.environment).toEqual({ NO_PROXY: 'x' });
  });

  it('keeps its token only in the memory of the command', () => {
    expect(told).not.toContain(CANARY);
    expect(commands).toContain('srv\0app\0run');
    expect(commands).not.toContain(CANARY);
    expect(readFileSync(`/proc/${world.pid ?? 0}/environ`, 'latin1')).not.toContain(CANARY);
    expect(world.filesWith(CANARY)).toEqual([]);
    expect(world.filesWith(cluster.api.token)).toEqual([
      'var/lib/rancher/agent/rancher2_connection_info.json',
    ]);
  });

  it('follows another server when it joins that', async () => {
    await using other = await startCluster();
    const { pid } = world;
    const said = await world.say(['join'], other.variables);
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect(world.text(world.authorities)).toBe(other.rancher.ca);
    expect(other.api.requests.length).toBeGreaterThan(0);
    expect(world.pid).not.toBe(pid);
    const back = await ask(['join']);
    expect([back.code, back.outcome]).toEqual([0, 'installed']);
  });

  it('follows no server once it has left, serves on, and is another machine afterwards', async () => {
    await ask(['join'], { STRICT_VERIFY: 'true' });
    expect(world.text(world.config)).toContain('agentStrictTLSMode: true');
    const dry = await ask(['leave', '--dry-run']);
    expect([dry.code, dry.outcome]).toEqual([0, 'planned']);
    const said = await ask(['leave']);
    expect([said.code, said.outcome]).toEqual([0, 'left']);
    for (const file of [world.nodeId, world.connectionInfo, world.authorities]) {
      expect(() => statSync(file)).toThrow('ENOENT');
    }
    expect(world.text(world.config)).toContain('remoteEnabled: false');
    // The next server may have no private authority, so strict verification is off again.
    expect(world.text(world.config)).not.toContain('agentStrictTLSMode');
    expect(await world.serves()).toBe(true);
    const again = await ask(['leave']);
    expect([again.code, again.outcome]).toEqual([0, 'nothing']);
    expect((await ask(['join'])).outcome).toBe('installed');
    expect(world.text(world.nodeId).trim()).not.toBe(firstId);
  });

  it('is gone when it is uninstalled, except for items that others changed', async () => {
    const before = { ...world.service };
    expect(before).toBeDefined();
    const file = world.path('etc/rancher/wins/notes');
    world.workspace.write('node/etc/rancher/wins/notes', 'of the operator');
    world.workspace.write('node/etc/rancher/wins/config', '# changed\n');
    const dry = await ask(['uninstall', '--dry-run']);
    expect([dry.code, dry.outcome]).toEqual([0, 'planned']);
    const said = await ask(['uninstall']);
    expect([said.code, said.outcome]).toEqual([0, 'uninstalled']);
    expect(said.kept?.join('\n')).toMatch(/wins\/config.*it was changed after the installation/);
    expect(world.pid).toBeUndefined();
    expect(world.system).toEqual({ services: {}, things: {} });
    expect(world.text(world.config)).toBe('# changed\n');
    expect(() => statSync(world.program)).toThrow('ENOENT');
    const again = await ask(['uninstall']);
    expect([again.code, again.outcome]).toEqual([0, 'nothing']);
    const forced = await ask(['uninstall', '--force']);
    expect([forced.code, forced.outcome]).toEqual([0, 'uninstalled']);
    expect(() => statSync(world.config)).toThrow('ENOENT');
    expect(world.text(file)).toBe('of the operator');
    expect((await ask(['uninstall'])).outcome).toBe('nothing');
    expect(told).not.toContain(CANARY);
  });
});
