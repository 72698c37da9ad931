import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Daemon } from '../testing/daemon.js';
import { PlanNode } from '../testing/agent/plan-node.js';

/** Part of a config that the chart delivers; {@link DeliveredNode} adds the entry of the helper. */
interface Offered {
  readonly debug?: boolean;
  readonly systemagent?: object;
  readonly white_list?: { readonly processPaths: readonly unknown[] };
}

/** A node that follows plans, serves metrics, and offers a program and a port. */
class DeliveredNode implements AsyncDisposable {
  readonly node = new PlanNode();
  readonly program = this.node.workspace.script('tool', 'exit 0');
  readonly helper = this.node.workspace.path('wins-upgrade');
  readonly config = this.node.workspace.path('config');
  readonly #exporter: Server = createServer((socket) => socket.end());

  static async start(): Promise<DeliveredNode> {
    const node = new DeliveredNode();
    node.#exporter.listen(0, '127.0.0.1');
    await once(node.#exporter, 'listening');
    node.writeConfig();
    await node.node.start(node.config);
    return node;
  }

  get port(): number {
    return (this.#exporter.address() as AddressInfo).port;
  }

  writeConfig(): void {
    this.node.config({ localEnabled: true }, [], {
      white_list: { processPaths: [this.program], proxyPorts: [this.port] },
      metrics: { listen: '127.0.0.1:0' },
    });
  }

  async deliver(offered: Offered, ...options: string[]) {
    const helper = { path: this.helper, sha256: 'a'.repeat(64), mayBreakAway: true };
    const white_list = { processPaths: [helper, ...(offered.white_list?.processPaths ?? [])] };
    const content = { ...offered, listen: 'rancher_wins', white_list };
    const from = this.node.workspace.write('map/config', JSON.stringify(content));
    return await this.wins('cli', 'deliver', '--from', from, '--to', this.config, ...options);
  }

  async wins(...args: string[]) {
    const { code, stdout, stderr } = await this.node.wins(...args);
    return { code, stdout: String(stdout), stderr };
  }

  /** Tries what users get from the node: a run, a port, plans and metrics. */
  async gives() {
    const run = await this.wins('cli', 'prc', 'run', '--path', this.program);
    const ask = ['cli', 'explain', '-o', 'text', '--port', String(this.port)];
    const port = await this.wins(...ask);
    const plans = await this.node.ask<{ on: boolean }>('status');
    const metrics = await this.wins('srv', 'metrics');
    return { run: run.code, port: port.code, plans: plans.on, metrics: metrics.code };
  }

  doctor = async () => (await this.wins('doctor', '--config', this.config)).stdout;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    this.#exporter.close();
  }
}

const ALL = { run: 0, port: 0, plans: true, metrics: 0 };
const REFUSED = 'config rejected; the last valid one stays in force';

describe('a config that the chart brings to a node in use', () => {
  it('is merged: the key that it names changes, the helper is added, and all else stays', async () => {
    await using node = await DeliveredNode.start();
    const lines = node.node.daemon.log.length;
    const { code, stdout, stderr } = await node.deliver({ debug: true }, '--merge');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^wins: delivered: .*\/config [0-9a-f]{64}; unchanged: .*systemagent/);
    const { changed } = await node.node.daemon.logged(({ msg }) => msg === 'config changed', lines);
    expect(changed).toEqual(['debug', 'white_list.processPaths']);
    expect(await node.gives()).toEqual(ALL);
    const helper = await node.wins('cli', 'explain', '-o', 'text', '--path', node.helper);
    expect(helper.stdout).not.toContain('not listed');
    const again = await node.deliver({ debug: true }, '--merge');
    expect(again.stdout).toMatch(/^wins: unchanged: /);
    expect(await node.doctor()).not.toMatch(/systemagent|drops/);
  });

  it('does not replace the config in use, and the message says what would be lost and how to allow it', async () => {
    await using node = await DeliveredNode.start();
    const before = readFileSync(node.config, 'utf8');
    const refused = await node.deliver({ debug: true });
    expect([refused.code, refused.stdout]).toEqual([126, '']);
    expect(refused.stderr).toMatch(
      /the config .* would lose systemagent \(which follows the plans of the node\), white_list \(/,
    );
    expect(refused.stderr).toContain('--merge');
    expect(refused.stderr).toContain('--allow-drop systemagent --allow-drop white_list');
    const half = await node.deliver({ debug: true }, '--allow-drop', 'systemagent');
    expect([half.code, half.stderr.includes('--allow-drop systemagent')]).toEqual([126, false]);
    expect(readFileSync(node.config, 'utf8')).toBe(before);
    const unknown = await node.deliver({}, '--allow-drop', 'systemAgent');
    expect([unknown.code, unknown.stderr]).toEqual([
      64,
      expect.stringContaining(
        'systemagent, csi-proxy, white_list, hostNetwork, keep or upgrade.signedBy',
      ),
    ]);
  });

  it('replaces it when the loss is allowed by name, and the daemon that follows the file loads it', async () => {
    await using node = await DeliveredNode.start();
    const lines = node.node.daemon.log.length;
    const allow = ['--allow-drop', 'systemagent', '--allow-drop', 'white_list'];
    const { code, stderr } = await node.deliver({ debug: true }, ...allow);
    expect([code, stderr]).toEqual([0, '']);
    await node.node.daemon.logged(({ msg }) => msg === 'config changed', lines);
    expect(await node.gives()).toMatchObject({ run: 126, port: 126, plans: false });
    expect(await node.doctor()).not.toMatch(/drops|lacks/);
    // The next start reports no lost keys, because the loss was allowed.
    await node.node.daemon.stop();
    await node.node.start(node.config);
    expect(node.node.daemon.text).not.toContain('lacks keys');
  });

  it('begins with the config that the node has under another name, where there is none yet', async () => {
    await using node = await DeliveredNode.start();
    const to = node.node.workspace.path('wins.yaml');
    const from = node.node.workspace.write('map/config', 'debug: true');
    const words = ['cli', 'deliver', '--from', from, '--to', to, '--base', node.config];
    const replaced = await node.wins(...words);
    expect([replaced.code, existsSync(to)]).toEqual([126, false]);
    const merged = await node.wins(...words, '--merge');
    expect([merged.code, merged.stderr]).toEqual([0, '']);
    expect(readFileSync(to, 'utf8')).toContain('"systemagent"');
  });

  it.each<[string, Offered, (config: string) => void, RegExp]>([
    ['of which the whole is not valid', { systemagent: {} }, () => undefined, /proxy/],
    ['with a key that nobody knows', { debgu: 1 } as Offered, () => undefined, /debgu/],
    [
      'into a file that is not valid',
      { debug: true },
      (file) => writeFileSync(file, 'debug: maybe'),
      /maybe/,
    ],
  ])('is not merged %s', async (what, offered, prepare, words) => {
    using workspace = new (await import('../testing/workspace.js')).Workspace();
    const to = workspace.write('config', 'proxy: one\nsystemagent: { localEnabled: true }\n');
    prepare(to);
    const before = readFileSync(to, 'utf8');
    const content = what.includes('whole') ? { ...offered, listen: 'one' } : offered;
    const from = workspace.write('offered', JSON.stringify(content));
    const { runWins } = await import('../testing/built-program.js');
    const { code, stderr } = await runWins(
      ['cli', 'deliver', '--merge', '--from', from, '--to', to],
      workspace.environment,
    );
    expect([code, stderr]).toEqual([126, expect.stringMatching(words)]);
    expect(readFileSync(to, 'utf8')).toBe(before);
  });
});

describe('a config file that drops sections of the active config', () => {
  const drop = (node: DeliveredNode) =>
    node.node.config(undefined, [node.program], { metrics: { listen: '127.0.0.1:0' } });

  it('is refused by the daemon that uses it, which continues unchanged and says what to do', async () => {
    await using node = await DeliveredNode.start();
    drop(node);
    const refused = await node.node.daemon.logged(({ msg }) => msg === REFUSED);
    expect(JSON.stringify(refused)).toContain('which follows the plans of the node');
    expect(JSON.stringify(refused)).toContain('--allow-drop systemagent');
    expect(await node.gives()).toEqual(ALL);
    expect(await node.doctor()).toMatch(
      /^problem +config +.*lacks keys that are in force.*systemagent[^→]*→ .*reload --config .* --allow-drop systemagent/m,
    );
    const events = await node.wins('srv', 'events', '--config', node.config);
    expect(events.stdout).toMatch(/configReloaded .*result=rejected .*dropped=systemagent/);
    const audit = await node.wins('srv', 'audit', 'show', '--config', node.config, '-o', 'json');
    expect(audit.stdout).toMatch(/"kind":"configRefused".*"dropped":\["systemagent"\]/);
    const reload = ['srv', 'config', 'reload', '--config', node.config];
    const asked = await node.wins(...reload);
    expect([asked.code, asked.stderr]).toEqual([
      78,
      expect.stringContaining('--allow-drop systemagent'),
    ]);
    expect((await node.gives()).plans).toBe(true);
    const allowed = await node.wins(...reload, '--allow-drop', 'systemagent');
    expect([allowed.code, allowed.stderr]).toEqual([0, '']);
    expect(await node.gives()).toEqual({ ...ALL, port: 126, plans: false });
    expect(await node.doctor()).not.toMatch(/drops|lacks/);
  });

  it('is loaded by a start, with a warning; doctor and an event repeat it until someone allows the loss', async () => {
    await using node = await DeliveredNode.start();
    await node.node.daemon.stop();
    drop(node);
    await node.node.start(node.config);
    const warned = await node.node.daemon.logged(({ msg }) => msg.includes('lacks keys'));
    expect(warned).toMatchObject({ level: 'warn', keys: ['systemagent'] });
    const lacks =
      /^warning +config +since the start of .*systemagent[^→]*→ .*--allow-drop systemagent/m;
    expect(await node.doctor()).toMatch(lacks);
    const events = await node.wins('srv', 'events', '--config', node.config);
    expect(events.stdout).toMatch(/configLost +keys=systemagent/);
    await node.node.daemon.stop();
    await node.node.start(node.config);
    expect(await node.doctor()).toMatch(lacks);
    const reload = ['srv', 'config', 'reload', '--config', node.config];
    await node.wins(...reload, '--allow-drop', 'systemagent');
    expect(await node.doctor()).not.toMatch(lacks);
  });

  it('is not allowed by a permission for another content, or of another user', async () => {
    await using node = await DeliveredNode.start();
    const lines = node.node.daemon.log.length;
    drop(node);
    const forged = { sha256: 'f'.repeat(64), allowDrop: ['systemagent'] };
    node.node.workspace.write('config.delivered/permission.json', JSON.stringify(forged));
    await node.node.daemon.logged(({ msg }) => msg === REFUSED, lines);
    rmSync(`${node.config}.delivered`, { recursive: true });
    expect((await node.gives()).plans).toBe(true);
  });

  it('is not found by a daemon whose history is damaged, which starts', async () => {
    await using node = await DeliveredNode.start();
    await node.node.daemon.stop();
    writeFileSync(`${node.config}.history/served.000001.yaml`, 'debug: true\n');
    drop(node);
    await using _daemon: Daemon = await node.node.start(node.config);
    expect((await node.gives()).plans).toBe(false);
  });
});
