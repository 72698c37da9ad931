import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { startProxy, type ProxyDouble } from '@wins/net/testing';
import type { RancherFault } from '@wins/rancher-client/testing';
import { linesOf } from '../testing/node/crash-node.js';
import { CANARY, NodeWorld, startCluster, type Cluster } from '../testing/node/node-world.js';

const PASSWORD = 'canary-of-a-proxy-password';
const INFO = 'var/lib/rancher/agent/rancher2_connection_info.json';
const echo: RancherFault = ({ headers }, response) =>
  void response.writeHead(500).end(`${headers.authorization ?? ''} ${CANARY} ${PASSWORD}`);

describe('the secrets of a node', () => {
  let cluster: Cluster;
  let proxy: ProxyDouble;
  let world: NodeWorld;
  /** Secrets, and the one file that may contain each. */
  let secrets: readonly (readonly [secret: string, file: string | undefined])[] = [];
  let told = '';
  const commandLines = new Set<string>();
  let timer: NodeJS.Timeout;

  beforeAll(async () => {
    cluster = await startCluster();
    world = new NodeWorld();
    const { port } = new URL(cluster.rancher.url);
    const user = { name: 'node', password: PASSWORD };
    proxy = await startProxy({ user, hosts: { [`rancher.invalid:${port}`]: Number(port) } });
    secrets = [
      [CANARY, undefined],
      [createHash('sha256').update(CANARY).digest('base64'), undefined],
      [Buffer.from(`node:${PASSWORD}`).toString('base64'), undefined],
      // Windows stores the environment of a service in the registry; here `system.json` replaces the registry.
      [PASSWORD, 'system.json'],
      [cluster.api.token, INFO],
    ];
    timer = setInterval(lookAtProcesses, 10);
  });
  afterAll(async () => {
    clearInterval(timer);
    await world[Symbol.asyncDispose]();
    await proxy.close();
    await cluster[Symbol.asyncDispose]();
  });

  /** Number of times that each PID was seen. Its command line is read the first four times, because `exec` changes the line after the fork. */
  let looks = new Map<string, number>();
  function lookAtProcesses(): void {
    const before = looks;
    looks = new Map();
    for (const pid of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
      const count = (before.get(pid) ?? 0) + 1;
      looks.set(pid, count);
      if (count > 4) continue;
      try {
        commandLines.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
      } catch {
        // Already ended.
      }
    }
  }

  function variables(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return {
      CATTLE_SERVER: `https://rancher.invalid:${new URL(cluster.rancher.url).port}`,
      CATTLE_TOKEN: CANARY,
      HTTPS_PROXY: `http://node:${PASSWORD}@${proxy.host}`,
      ...more,
    };
  }

  async function run(args: readonly string[], more?: NodeJS.ProcessEnv): Promise<number | null> {
    const all = [...args, '--debug'];
    const { code, stdout, stderr } = await world.wins(all, variables(more));
    told += `${String(stdout)}\n${stderr}\n`;
    return code;
  }

  function expectNoSecret(): void {
    const lines = [...commandLines].join('\n');
    for (const [secret, file] of secrets) {
      expect(told).not.toContain(secret);
      expect(lines).not.toContain(secret);
      expect(world.filesWith(secret).filter((each) => each !== file)).toEqual([]);
    }
    // Proves that the spec saw the command lines of these commands.
    expect(lines).toContain('--debug');
  }

  it.each([
    ['/cacerts', 70],
    ['/healthz', 70],
    ['/v3/connect/agent', 70],
  ])(
    'are not shown by a join that fails at %s, even if the server repeats all that it got',
    async (at, code) => {
      cluster.rancher.script(at, [echo], { forEver: true });
      expect(await run(['join', '--timeout', '1s'])).toBe(code);
      cluster.rancher.script(at, []);
      expect(told).toContain('found status 500');
      expectNoSecret();
    },
  );

  it('are not printed by a join that fails because of a wrong digest, password or value', async () => {
    expect(await run(['join'], { CATTLE_CA_CHECKSUM: '0'.repeat(64) })).toBe(65);
    const other = `http://node:${PASSWORD}x@${proxy.host}`;
    expect(await run(['join', '--timeout', '1s'], { HTTPS_PROXY: other })).toBe(70);
    expect(await run(['join'], { CATTLE_TOKEN: `${CANARY}\n` })).toBe(64);
    expect(await run(['join'], { HTTPS_PROXY: `socks5://node:${PASSWORD}@x` })).toBe(65);
    expectNoSecret();
  });

  it('are in no journal of a join that is killed, and in no record of the next command', async () => {
    const join = world.start(['join', '--debug'], variables());
    while (linesOf(world) < 12 && join.child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 1));
    join.child.kill('SIGKILL');
    await join.outcome;
    const journal = existsSync(world.journal) ? world.text(world.journal) : '';
    for (const [secret] of secrets) expect(journal).not.toContain(secret);
    expect(await run(['join'])).toBe(0);
    expect(world.text(world.manifest)).toContain('variable');
    // The journal has digests of secrets. The output must have none, because a digest helps to guess a password.
    const digest = createHash('sha256')
      .update(variables()['HTTPS_PROXY'] ?? '')
      .digest('hex');
    expect(told).not.toContain(digest);
    expectNoSecret();
  });

  it('are not shown by an upgrade that fails, is rolled back or does nothing', async () => {
    cluster.rancher.script('/v3/connect/agent', [echo], { forEver: true });
    expect(await run(['suc', '--timeout', '1s'])).toBe(70);
    cluster.rancher.script('/v3/connect/agent', []);
    const good = cluster.rancher.connectionInfo;
    const server = 'https://127.0.0.1:1';
    cluster.rancher.connectionInfo = JSON.parse(cluster.api.connectionInfo({ server })) as unknown;
    expect(await run(['suc', '--wait', '1s'])).toBe(1);
    cluster.rancher.connectionInfo = good;
    expect(await run(['suc'])).toBe(0);
    expectNoSecret();
  });

  it('are not shown by leave and uninstall', async () => {
    expect(await run(['leave'])).toBe(0);
    expect(world.filesWith(cluster.api.token)).toEqual([]);
    expect(await run(['uninstall', '--dry-run'])).toBe(0);
    expect(await run(['uninstall'])).toBe(0);
    expectNoSecret();
    expect(world.filesWith(PASSWORD)).toEqual([]);
  });
});
