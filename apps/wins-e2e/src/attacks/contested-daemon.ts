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

/** Name that the client gives itself. */
export const CLAIMED = 'system:node-admin (trusted)';
/** Listed programs that write much output and then sleep. */
export const STAYING = ['stay-1', 'stay-2', 'stay-3'];
const programs = path.join(__dirname, '../fixtures/programs');

/** Works as {@link wherePossible}, for tests whose hostile client must be in a container. */
export function whereContainersCanBe<Test extends { readonly skip: Test }>(test: Test): Test {
  const skipped = 'clients in containers, since this user may make no mounts';
  return wherePossible(test, mayMakeContainer(), skipped);
}

/** Returns the client of a record, as the system identifies it. */
export function clientOf(record: LogRecord): Readonly<Record<string, unknown>> {
  return record['client'] as Readonly<Record<string, unknown>>;
}

const RUN = [WINS, 'cli', 'prc', 'run', '--path'];

async function printedBy({ outcome }: RunningProgram): Promise<string> {
  const { code, stdout, stderr } = await outcome;
  return code === 0 ? String(stdout) : `${code}: ${stderr}`;
}

/** A daemon with a hostile client, in a container if possible, and another client that wants to be served. */
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

  /** @param descriptors - Maximum number of open descriptors of the daemon; the default is that of this process. */
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

  /** Starts a program of the hostile client; it ends when this object is disposed. */
  attack(command: readonly string[]): RunningProgram {
    const program = startInContainer(command, this.workspace.environment);
    // Low priority, because the test is about a share of the daemon, not of the machine.
    setPriority(program.child.pid ?? 0, constants.priority.PRIORITY_LOW);
    this.#hostile.push(program);
    return program;
  }

  /** Starts a hostile program and waits until it prints that it is at work. */
  async play(name: string, says: string, ...args: (string | number)[]): Promise<void> {
    const program = this.attack([path.join(programs, name), ...args.map(String)]);
    await program.printed(says);
  }

  /** Runs a listed program as a client in its own container; returns the output. */
  runHello(start = startInContainer): Promise<string> {
    return printedBy(start([...RUN, this.workspace.path('hello')], this.workspace.environment));
  }

  /** Runs a listed program as a client of the host; returns the output. */
  runHelloOnHost(): Promise<string> {
    return this.runHello((args, environment) => startProgram(process.execPath, args, environment));
  }

  /** Returns the response that the other client gets through its own tunnel. */
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
