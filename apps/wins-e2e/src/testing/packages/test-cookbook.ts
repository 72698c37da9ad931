import { openTunnel, TunnelError } from '@wins/tcp-tunnel';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Daemon } from '../daemon.js';
import { processesWith } from '../process-table.js';
import { Workspace } from '../workspace.js';

/** A program of the cookbook that runs until it is stopped. */
class Running {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(file: string, ...args: string[]) {
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, [file, ...args], { stdio });
    this.#child = child;
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  /** Returns the next line. */
  async says(): Promise<string> {
    const { value } = (await this.#lines.next()) as { value: string };
    return value;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Returns the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}

/** Tests each program of the cookbook. `fileOf` returns where a program was built. */
export function testCookbook(fileOf: (name: string) => string): void {
  let folder: string;
  let running: Running[];
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-cookbook-'));
    running = [];
  });
  afterEach(() => {
    // Those that a failed test has left.
    for (const one of running) one.kill();
    rmSync(folder, { recursive: true });
  });

  const run = (name: string, ...args: string[]): Running => {
    const one = new Running(fileOf(name), ...args);
    running.push(one);
    return one;
  };

  it('has a linter that marks each fault of a config with its place, and passes a good one', () => {
    const [good, bad] = [path.join(folder, 'good'), path.join(folder, 'a,bad')];
    writeFileSync(good, "white_list:\n  processPaths: ['C:\\\\tools\\\\hello.exe']\n");
    writeFileSync(bad, 'white_list:\n  proxyPorts: [0]\ndebugg: true\n');
    const lint = (...files: string[]) => {
      const args = [fileOf('config-linter'), ...files];
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      return { status, lines: stdout.split('\n') };
    };
    expect(lint(good)).toEqual({ status: 0, lines: [''] });
    const { status, lines } = lint(good, bad);
    expect(status).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(
        /^::error file=\S+a%2Cbad,line=2,col=16::white_list.proxyPorts\[0\]: found "0", /,
      ),
      expect.stringMatching(/^::error file=\S+a%2Cbad,line=3,col=1::debugg: .*debug/),
      '',
    ]);
  });

  it('has a bastion that gives each user his ports and no others, and records both', async () => {
    const program = createServer((socket) =>
      socket.on('error', () => undefined).end('of the host'),
    );
    await once(program.listen(0, '127.0.0.1'), 'listening');
    const { port: hostPort } = program.address() as AddressInfo;
    const uid = process.getuid?.() ?? 0;
    const address = path.join(folder, 'bastion');
    const bastion = run('bastion', address, JSON.stringify({ [uid]: [hostPort] }));
    expect(await bastion.says()).toBe('ready');
    const refusals = new EventEmitter();
    const refused = once(refusals, 'refused');
    await using tunnel = await openTunnel({
      address,
      clientName: 'the-test',
      publish: [
        { hostPort, port: 0 },
        { hostPort: 1, port: 0 },
      ],
      onRefused: (error) => refusals.emit('refused', error),
    });
    const [listed, other] = tunnel.ports.map(({ port }) => port);
    expect(await text(connect(listed ?? 0, '127.0.0.1'))).toBe('of the host');
    const known = { clientName: 'the-test', uid, pid: process.pid };
    const allowed = { ...known, port: hostPort, allowed: true, rule: 'port-allowed' };
    expect(JSON.parse(await bastion.says())).toMatchObject(allowed);
    connect(other ?? 0, '127.0.0.1').on('error', () => undefined);
    expect(await refused).toMatchObject([{ code: 'connectRefused', rule: 'port-not-listed' }]);
    const denied = { ...known, port: 1, allowed: false, rule: 'port-not-listed' };
    expect(JSON.parse(await bastion.says())).toMatchObject(denied);
    await tunnel.close();
    expect(await bastion.stop()).toBe(0);

    const closed = run('bastion', address, JSON.stringify({ [uid + 1]: [hostPort] }));
    expect(await closed.says()).toBe('ready');
    const error: unknown = await openTunnel({ address, publish: [] }).catch(
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(TunnelError);
    expect((error as TunnelError).message).toContain('401');
    expect(await closed.stop()).toBe(0);
    program.close();
  });

  it('has an agent that applies the plans of a folder', async () => {
    mkdirSync(path.join(folder, 'plans'), { mode: 0o700 });
    const agent = run('node-agent', folder);
    expect(await agent.says()).toBe('ready');
    const made = path.join(folder, 'made');
    const plan = {
      files: [{ path: made, content: Buffer.from('by the plan').toString('base64') }],
      instructions: [{ name: 'greet', command: process.execPath, args: ['-e', '0'] }],
    };
    writeFileSync(path.join(folder, 'plans', 'node.plan'), JSON.stringify(plan), { mode: 0o600 });
    expect(await agent.says()).toBe('greet 0');
    expect(await agent.says()).toBe('the plan was applied: true');
    expect(readFileSync(made, 'utf8')).toBe('by the plan');
    expect(await agent.stop()).toBe(0);
  });

  it('has a supervisor that keeps programs running, and says why one ends for good', async () => {
    const program = (name: string, source: string) => {
      const file = path.join(folder, name);
      writeFileSync(file, `#!/bin/sh\n${source}\n`, { mode: 0o755 });
      return file;
    };
    const stays = program('stays', `echo up; while :; do sleep 0.05; done`);
    const fails = program('fails', 'exit 3');
    const missing = path.join(folder, 'missing');
    const state = path.join(folder, 'state');
    const supervisor = run('supervisor', state, stays, fails, missing);
    const said: string[] = [];
    const until = async (...wanted: readonly string[]): Promise<void> => {
      while (!wanted.every((line) => said.some((one) => one.includes(line))))
        said.push(await supervisor.says());
    };
    await until(
      'ready',
      'stays: up',
      'fails is not started again: exit code 3',
      'missing is not started again: cannot read',
    );
    expect(said.filter((line) => line === 'fails: exit code 3')).toHaveLength(6);
    expect(await supervisor.stop()).toBe(0);
    expect(processesWith(path.join(folder, 'state'))).toEqual([]);
  });

  it('has a roll-out that replaces a detached run, and ends when the new one is ready or has failed', async () => {
    using workspace = new Workspace();
    const ready = workspace.script('serve', 'echo ready; while :; do sleep 0.05; done');
    const fails = workspace.script('fails', 'printf ready; exit 3');
    const detached = { allow: true, restart: true };
    const config = workspace.config([
      { path: ready, detached },
      { path: fails, detached: { ...detached, restart: { delayMs: 1, maxDelayMs: 1 } } },
    ]);
    await using _daemon = await Daemon.start(workspace, config);
    const rollOut = (file: string) => {
      const args = [fileOf('roll-out'), 'web', file];
      const env = workspace.environment;
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        encoding: 'utf8',
        env,
      });
      return [status, stdout + stderr];
    };
    expect(rollOut(ready)).toEqual([0, 'web serves\n']);
    expect(rollOut(ready)).toEqual([0, 'web serves\n']);
    expect(rollOut(fails)).toEqual([
      1,
      expect.stringMatching(/^web failed with 3: it was started again 3 times/),
    ]);
    expect(rollOut('/not/listed')).toEqual([1, expect.stringContaining('not/listed')]);
  });
}
