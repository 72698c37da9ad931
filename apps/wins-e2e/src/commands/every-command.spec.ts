import { createHash } from 'node:crypto';
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram, type Outcome, type RunningProgram } from '../testing/built-program.js';
import { EVERY_COMMAND, type CommandHost } from '../testing/every-command.js';
import { namedCommands, type NamedCommand } from '../testing/named-commands.js';
import { packageFolder } from '../testing/package-folder.js';
import { unknownCommands } from '../testing/pages/page-commands.js';
import { HostProgram } from '../testing/tunnel/tunnel.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { Workspace } from '../testing/workspace.js';

/** A copy in a folder that other users can reach. */
const made = new Workspace();
const PACKAGED = made.path('wins');

/** A host on which the packaged program is the daemon, at a terminal or as the service, and the client. */
class PackagedHost implements CommandHost, AsyncDisposable {
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
      white_list: { processPaths: [this.tool, upgrader], proxyPorts: [echo.port] },
    });
    this.brokenConfig = workspace.write('broken', '{"listen": ');
    this.sha1 = createHash('sha1').update(readFileSync(world.target)).digest('hex');
  }

  static async start(isService: boolean): Promise<PackagedHost> {
    const echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const world = await UpgradeWorld.empty('my bin/wins');
    copyFileSync(PACKAGED, world.target);
    const upgrader = world.workspace.path('wins-upgrade');
    copyFileSync(PACKAGED, upgrader);
    const host = new PackagedHost(world, echo, upgrader, isService);
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

beforeAll(() => {
  copyFileSync(path.join(packageFolder(), 'wins'), PACKAGED);
  chmodSync(made.folder, 0o755);
});
afterAll(() => made[Symbol.dispose]());

describe('the packaged program for Linux', () => {
  const run = (...args: string[]): Promise<Outcome> =>
    startProgram(PACKAGED, args, process.env).outcome;
  let commands: NamedCommand[];
  beforeAll(async () => {
    commands = await namedCommands((args) => run(...args));
  });

  it('has no command that is not tried here', () => {
    const leaves = commands.filter(({ below }) => below.length === 0);
    expect(leaves.map(({ name }) => name).sort()).toEqual(Object.keys(EVERY_COMMAND).sort());
  });

  it('has every command and option that the pages name', () => {
    expect(unknownCommands(commands)).toEqual([]);
  });

  it('completes the words of every command as its help has them', async () => {
    for (const { name, below } of commands) {
      if (below.length === 0) continue;
      const words = name.split(' ').filter(Boolean);
      const { stdout } = await run('--get-yargs-completions', 'wins', ...words, '');
      const completed = stdout.toString().split('\n');
      expect([name, completed.map((line) => line.split(':')[0])]).toEqual([
        name,
        expect.arrayContaining([...below]),
      ]);
    }
  });

  it('knows each command by its other names', async () => {
    const named = commands.filter(({ aliases }) => aliases.length > 0);
    expect(named.length).toBeGreaterThan(5);
    for (const { name, aliases, help } of named) {
      const above = name.split(' ').slice(0, -1);
      for (const alias of aliases) {
        const { stdout } = await run(...above, alias, '--help');
        // It names the commands below it by the words that were typed.
        expect(
          stdout.toString().replaceAll(`wins ${[...above, alias].join(' ')}`, `wins ${name}`),
        ).toBe(help);
      }
    }
  });

  it('knows which options take no word after them', async () => {
    const leaves = commands.filter(({ below }) => below.length === 0);
    for (const { name, help } of leaves) {
      for (const [, option = ''] of help.matchAll(/^ +(?:-\w, )?(--[a-z-]+) .*\[boolean\]/gm)) {
        if (option === '--help' || option === '--version') continue;
        const { stdout } = await run(...name.split(' '), option, '--help');
        expect([name, option, stdout.toString()]).toEqual([name, option, help]);
      }
    }
  });

  describe.each([
    ['at a terminal', false],
    ['as the service', true],
  ])('with a daemon of the same file %s', (_how, asService) => {
    let host: PackagedHost;
    beforeAll(async () => {
      host = await PackagedHost.start(asService);
    });
    afterAll(() => host[Symbol.asyncDispose]());

    it.each(Object.entries(EVERY_COMMAND))('does what it should: wins %s', (_name, check) =>
      check(host),
    );
  });

  describe.each([
    ['whose home does not exist', '/nonexistent', 0o700],
    ['whose home may not be written', undefined, 0o500],
  ])(
    'for a user without privileges %s, in a folder that is closed to him',
    (_whose, home, mode) => {
      const workspace = new Workspace();
      afterAll(() => workspace[Symbol.dispose]());
      // Who is not root already is someone without privileges.
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const own = (folder: string): string => {
        if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
        return folder;
      };
      const closed = workspace.path('closed');
      const environment = {
        ...{ PATH: '/usr/bin:/bin', WINS_RUNTIME_DIR: workspace.path('own', 'run') },
        HOME: home ?? workspace.path('home'),
      };
      const start = (...args: string[]) =>
        startProgram(PACKAGED, args, environment, { ...user, cwd: closed });
      beforeAll(() => {
        chmodSync(workspace.folder, 0o755);
        for (const name of ['closed', 'home', 'own']) mkdirSync(workspace.path(name));
        own(workspace.path('own'));
        chmodSync(own(workspace.path('home')), mode);
        chmodSync(closed, 0o000);
      });

      it('serves and answers', async () => {
        const config = workspace.write(
          'own/config',
          JSON.stringify({ white_list: { processPaths: ['/bin/echo', '/usr/bin/echo'] } }),
        );
        own(config);
        const checked = await start('srv', 'config', 'check', '--config', config).outcome;
        expect([checked.code, checked.stderr]).toEqual([0, '']);
        const daemon = start('srv', 'app', 'run', '--config', config);
        await daemon.said('"msg":"ready"');
        const info = await start('cli', 'app', 'info').outcome;
        expect([info.code, info.stderr]).toEqual([0, '']);
        daemon.child.kill('SIGTERM');
        expect((await daemon.outcome).code).toBe(0);
      });
    },
  );

  it('says so when its working directory was removed', async () => {
    const gone = made.path('gone');
    mkdirSync(gone);
    const script = 'rmdir ../gone; exec "$@"';
    const run = (...args: string[]) =>
      startProgram('/bin/sh', ['-c', script, 'sh', PACKAGED, ...args], process.env, { cwd: gone })
        .outcome;
    const { code, stdout, stderr } = await run('cli', 'app', 'info');
    expect([code, stdout.toString()]).toEqual([125, '']);
    expect(stderr).toMatch(/^wins: the working directory does not exist [^\n]*\n$/);
    mkdirSync(gone);
    expect((await run('--version')).code).toBe(0);
  });
});
