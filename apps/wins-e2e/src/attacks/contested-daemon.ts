import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { get } from 'node:http';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

export const CLAIMED = 'system:node-admin (trusted)';
export const STAYING = ['stay-1', 'stay-2', 'stay-3'];
const programs = path.join(__dirname, '../fixtures/programs');

/** {@link wherePossible} for tests whose hostile client must be in a container. */
export function whereContainersCanBe<Test extends { readonly skip: Test }>(test: Test): Test {
  const skipped = 'clients in containers, since this user may make no mounts';
  return wherePossible(test, mayMakeContainer(), skipped);
}

export function clientOf(record: LogRecord): Readonly<Record<string, unknown>> {
  return record['client'] as Readonly<Record<string, unknown>>;
}

const RUN = [WINS, 'cli', 'prc', 'run', '--path'];

async function printedBy({ outcome }: RunningProgram): Promise<string> {
  const { code, stdout, stderr } = await outcome;
  return code === 0 ? String(stdout) : `${code}: ${stderr}`;
}

/** A daemon that has a hostile client and must still serve another client. The hostile client is in a container if this user may create one. */
export class ContestedDaemon implements AsyncDisposable {
  readonly client: WinsClient;
  readonly #hostile: RunningProgram[] = [];

  private constructor(
    readonly workspace: Workspace,
    readonly web: HostProgram,
    readonly daemon: Daemon,
    readonly address: string,
    readonly tunnelAddress: string,
  ) {
    this.client = createWinsClient({ address, clientName: CLAIMED });
  }

  /** @param descriptors - Limit on open descriptors of the daemon; by default that of this process. */
  static async start(descriptors?: number): Promise<ContestedDaemon> {
    const workspace = new Workspace();
    const web = await HostProgram.http((_incoming, response) => response.end('served'));
    const hello = workspace.script('hello', 'echo hello');
    const staying = STAYING.map((name) =>
      workspace.script(name, 'head -c 300000 /dev/zero; exec sleep 600'),
    );
    const white_list = { processPaths: [hello, ...staying], proxyPorts: [web.port] };
    const config = workspace.config([], { white_list });
    const command = [process.execPath, WINS, 'srv', 'app', 'run', '--config', config];
    const limit = descriptors === undefined ? ':' : `ulimit -n ${descriptors}`;
    const shell = ['-c', `${limit}; exec "$@"`, 'sh', ...command];
    const daemon = Daemon.of(startProgram('/bin/sh', shell, workspace.environment));
    const { address, tunnelAddress } = await daemon.logged(({ msg }) => msg === 'ready');
    return new ContestedDaemon(workspace, web, daemon, String(address), String(tunnelAddress));
  }

  /** Starts a program of the hostile client; disposing this object ends it. */
  attack(command: readonly string[]): RunningProgram {
    const program = startInContainer(command, this.workspace.environment);
    // Low priority, because the test is about fair shares of the daemon, not of the processors.
    setPriority(program.child.pid ?? 0, constants.priority.PRIORITY_LOW);
    this.#hostile.push(program);
    return program;
  }

  /** Starts a hostile program and waits until it prints `says`. */
  async play(name: string, says: string, ...args: (string | number)[]): Promise<void> {
    const program = this.attack([path.join(programs, name), ...args.map(String)]);
    await program.printed(says);
  }

  runHello(start = startInContainer): Promise<string> {
    return printedBy(start([...RUN, this.workspace.path('hello')], this.workspace.environment));
  }

  runHelloOnHost(): Promise<string> {
    return this.runHello((args, environment) => startProgram(process.execPath, args, environment));
  }

  async fetchThroughTunnel(): Promise<string> {
    const [port = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(this.workspace, `TCP:${port}:${this.web.port}`);
    return await new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, agent: false }, (answer) => {
        textOf(answer).then(resolve, reject);
      }).once('error', reject);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child, outcome } of this.#hostile) {
      child.kill('SIGKILL');
      await outcome;
    }
    await this.client.close();
    await this.daemon[Symbol.asyncDispose]();
    await this.web[Symbol.asyncDispose]();
    this.workspace[Symbol.dispose]();
  }
}
