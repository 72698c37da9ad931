import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { connect } from 'node:net';
import { Daemon } from './daemon.js';
import { startRequest } from './digests.js';
import { Workspace } from './workspace.js';

const PROGRAMS = 8;

export class ShortRuns implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #programs: readonly string[];
  readonly daemon: Daemon;
  readonly client: WinsClient;

  private constructor(workspace: Workspace, programs: readonly string[], daemon: Daemon) {
    this.#workspace = workspace;
    this.#programs = programs;
    this.daemon = daemon;
    this.client = createWinsClient({ address: this.#address });
  }

  static async start(): Promise<ShortRuns> {
    const workspace = new Workspace();
    const programs = Array.from({ length: PROGRAMS }, (_, index) =>
      workspace.script(`short-${index}`, 'echo hi'),
    );
    const daemon = await Daemon.start(workspace, workspace.config(programs));
    const runs = new ShortRuns(workspace, programs, daemon);
    await runs.client.info();
    return runs;
  }

  get #address(): string {
    return this.#workspace.path('run', 'rancher_wins');
  }

  #proc(name: string): string {
    return `/proc/${this.daemon.child.pid ?? 0}/${name}`;
  }

  get descriptors(): number {
    return readdirSync(this.#proc('fd')).length;
  }

  get leftovers(): readonly string[] {
    const children = readFileSync(
      this.#proc(`task/${this.daemon.child.pid ?? 0}/children`),
      'utf8',
    );
    const state = this.#workspace.path('run', 'rancher_wins.state');
    const others = readdirSync(state).filter((name) => name !== 'runs');
    const records = readdirSync(path.join(state, 'runs'));
    return [...children.split(' ').filter(Boolean), ...others, ...records];
  }

  /** Runs the {@link PROGRAMS} programs in parallel, `count` times in total, rounded up so that each runs equally often. */
  async run(count: number): Promise<void> {
    await Promise.all(
      this.#programs.map(async (program) => {
        const request = startRequest(program);
        for (let round = 0; round < count / PROGRAMS; round += 1) await this.#runOnce(request);
      }),
    );
  }

  async #runOnce(request: ReturnType<typeof startRequest>): Promise<void> {
    const name = await this.client.startProcess(request);
    const lease = this.client.keepAlive(name);
    let output = '';
    for await (const { options } of this.client.waitProcess(name)) {
      if (options?.$case === 'stdOut') output += options.value.toString();
    }
    await lease.end();
    if (output !== 'hi\n') throw new Error(`a run printed ${JSON.stringify(output)}`);
  }

  /** Opens `count` connections, 100 at a time, and closes them immediately; half of them send some bytes first. */
  async comeAndGo(count: number): Promise<void> {
    for (let round = 0; round < count; round += 100) {
      const sockets = Array.from({ length: 100 }, () => connect(this.#address));
      await Promise.all(
        sockets.map((socket, index) => {
          const closed = new Promise((resolve) => socket.once('close', resolve));
          socket.on('error', () => undefined);
          socket.once('connect', () => (index % 2 === 0 ? socket.destroy() : socket.end('PRI')));
          socket.resume();
          return closed;
        }),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.daemon[Symbol.asyncDispose]();
    this.#workspace[Symbol.dispose]();
  }
}
