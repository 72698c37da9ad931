import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import type { CommandHost } from '../testing/every-command.js';
import { standInExecutable } from '../testing/packages/package-folder.js';
import { HostProgram } from '../testing/tunnel/tunnel.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import type { Workspace } from '../testing/workspace.js';

/** A host on which the packaged program is both client and daemon. The daemon runs at a terminal or as the service. */
export class PackagedHost implements CommandHost, AsyncDisposable {
  readonly server: string;
  readonly proxy: string;
  readonly config: string;
  readonly brokenConfig: string;
  readonly tool: string;
  readonly greet = ['greet'];
  readonly stay = ['stay'];
  readonly adapter = ['--name', 'lo'];
  readonly sha1: string;
  readonly service: readonly string[];
  readonly #programs: RunningProgram[] = [];

  readonly #world: UpgradeWorld;
  readonly #echo: HostProgram;

  private constructor(
    world: UpgradeWorld,
    echo: HostProgram,
    readonly upgrader: string,
    readonly isService: boolean,
    more: (workspace: Workspace) => object,
  ) {
    this.#world = world;
    this.#echo = echo;
    const { workspace } = world;
    this.server = world.pipe;
    this.service = ['--service', world.definition];
    this.proxy = workspace.path('proxy');
    this.tool = workspace.script(
      'tool',
      'if [ "$1" = greet ]; then echo hello; exit 7; fi; echo up; exec sleep 1000',
    );
    this.config = workspace.config([this.tool, upgrader], {
      listen: this.server,
      proxy: this.proxy,
      white_list: {
        processPaths: [{ path: this.tool, detached: { allow: true } }, upgrader],
        proxyPorts: [echo.port],
      },
      ...more(workspace),
    });
    this.brokenConfig = workspace.write('broken', '{"listen": ');
    this.sha1 = createHash('sha1').update(readFileSync(world.target)).digest('hex');
  }

  /** @param more - Other sections of the config. */
  static async start(
    isService: boolean,
    more: (workspace: Workspace) => object = () => ({}),
  ): Promise<PackagedHost> {
    const echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const world = await UpgradeWorld.empty('my bin/wins');
    const packaged = standInExecutable();
    copyFileSync(packaged, world.target);
    const upgrader = world.workspace.path('wins-upgrade');
    copyFileSync(packaged, upgrader);
    const host = new PackagedHost(world, echo, upgrader, isService, more);
    if (isService) {
      world.define(`"${world.target}" srv app run --config "${host.config}"`);
      world.supervisor.start();
      await world.rest();
    } else {
      await host.start('srv', 'app', 'run', '--config', host.config).said('"msg":"ready"');
    }
    return host;
  }

  start(...args: string[]): RunningProgram {
    const { target, workspace } = this.#world;
    const program = startProgram(target, args, workspace.environment);
    this.#programs.push(program);
    return program;
  }

  get echoPort(): number {
    return this.#echo.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#programs) child.kill('SIGTERM');
    await Promise.all(this.#programs.map(({ outcome }) => outcome));
    await this.#world[Symbol.asyncDispose]();
    await this.#echo[Symbol.asyncDispose]();
  }
}
