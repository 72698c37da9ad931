import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startProgram, startWins, type RunningProgram } from '../built-program.js';
import { processesWith } from '../process-table.js';
import { freePorts, HostProgram, Tunnel } from '../tunnel/tunnel.js';
import { nodeWithDaemon } from './node-with-daemon.js';
import { singleFile } from './single-file.js';
import type { UpgradeWorld } from './upgrade-world.js';

/** A healthy release. */
export const WELL = singleFile('v1.1.0');
/** Seconds that the host program sleeps. The PID makes this argument of `sleep` unique among all processes. */
export const NAP = `${process.pid}.25`;

export async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

export class Clients implements AsyncDisposable {
  readonly #echo: HostProgram;

  private constructor(
    readonly world: UpgradeWorld,
    echo: HostProgram,
    readonly tunnel: Tunnel,
    readonly port: number,
    readonly sleeper: string,
  ) {
    this.#echo = echo;
  }

  static async start(source = `echo started; exec sleep ${NAP}`): Promise<Clients> {
    const echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const world = await nodeWithDaemon({ proxyPorts: [echo.port] });
    const [port = 0] = await freePorts(1);
    const proxy = world.workspace.path('proxy');
    const publish = `TCP:${port}:${echo.port}`;
    const tunnel = await Tunnel.start(world.workspace, publish, '--proxy', proxy);
    const sleeper = world.workspace.script('sleeper', source);
    return new Clients(world, echo, tunnel, port, sleeper);
  }

  run(...more: string[]): RunningProgram {
    return startWins(
      ['cli', 'prc', 'run', '--server', this.world.pipe, '--path', this.sleeper, ...more],
      this.world.workspace.environment,
    );
  }

  /** Starts a run, and a stream that carries data; `cut` resolves when the stream fails. */
  async begin(): Promise<{ readonly run: RunningProgram; readonly cut: Promise<unknown> }> {
    const open = connect(this.port, '127.0.0.1');
    assert.equal(await say(open, 'before'), 'before');
    const cut = new Promise((resolve) => open.once('error', resolve));
    const run = this.run();
    await run.printed('started');
    return { run, cut };
  }

  upgrade(release: string, wait = '30s'): RunningProgram {
    const offered = this.world.workspace.write('next', release, 0o755);
    const args = ['up', '--service', this.world.definition, `--wait=${wait}`];
    return startProgram(offered, args, this.world.workspace.environment);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tunnel[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
    await this.#echo[Symbol.asyncDispose]();
  }
}

/**
 * Checks that an upgrade ends a run and tells its client why, and that it resets a stream. Later clients must be served.
 *
 * @param code - Exit code of the upgrade.
 * @param version - Version that serves afterwards.
 */
export async function expectClearEnds(
  release: string,
  code: number,
  version: string,
): Promise<void> {
  await using clients = await Clients.start();
  const { world, tunnel, port } = clients;
  const { cut, run } = await clients.begin();

  const upgrade = await clients.upgrade(release).outcome;
  assert.deepEqual([upgrade.code, await world.rest()], [code, version]);

  const ended = await run.outcome;
  assert.equal(ended.code, 143);
  assert.match(
    ended.stderr,
    /^wins: \S*sleeper was stopped: daemonStopping \(the daemon was stopped, [^\n]*\)\n$/,
  );
  assert.equal(processesWith(`sleep\0${NAP}`).join(), '');

  assert.equal(((await cut) as NodeJS.ErrnoException).code, 'ECONNRESET');
  const again = connect(port, '127.0.0.1');
  assert.equal(await say(again, 'after'), 'after');
  again.destroy();
  assert.equal(tunnel.program.child.exitCode, null);
  const lines = tunnel.program.stderr().trimEnd().split('\n').slice(1);
  assert.ok(lines.length >= 2);
  const [lost, back] = [
    /^wins: the tunnel is lost: the daemon closed it[^\n]*; reconnecting, /,
    /^wins: the tunnel is back$/,
  ];
  for (const [index, line] of lines.entries()) assert.match(line, index % 2 === 0 ? lost : back);
}
