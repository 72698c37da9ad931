import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { startProgram, type Outcome } from '../testing/built-program.js';
import { EVERY_COMMAND } from '../testing/every-command.js';
import { namedCommands } from '../testing/named-commands.js';
import { packageFolder } from '../testing/packages/package-folder.js';
import { sampleOf } from '../testing/sample.js';
import { Workspace } from '../testing/workspace.js';
import { PackagedHost } from './packaged-host.js';

const made = new Workspace();
/** A copy of the program in a folder that other users can reach. */
const PACKAGED = made.path('wins');

beforeAll(() => {
  copyFileSync(path.join(packageFolder(), 'wins'), PACKAGED);
  chmodSync(made.folder, 0o755);
});
afterAll(() => made[Symbol.dispose]());

describe('the packaged program for Linux', () => {
  it('knows which options take no word after them', async () => {
    const run = (args: readonly string[]): Promise<Outcome> =>
      startProgram(PACKAGED, args, process.env).outcome;
    const commands = await namedCommands(run);
    const leaves = commands.filter(({ below }) => below.length === 0);
    for (const { name, help } of leaves) {
      for (const [, option = ''] of help.matchAll(/^ +(?:-\w, )?(--[a-z-]+) .*\[boolean\]/gm)) {
        if (option === '--help' || option === '--version') continue;
        const { stdout } = await run([...name.split(' '), option, '--help']);
        expect([name, option, stdout.toString()]).toEqual([name, option, help]);
      }
    }
  });

  describe('with a daemon of the same file as the service', () => {
    let host: PackagedHost;
    beforeAll(async () => {
      host = await PackagedHost.start(true);
    });
    afterAll(() => host[Symbol.asyncDispose]());

    it.each(Object.entries(EVERY_COMMAND))('does what it should: wins %s', (_name, check) =>
      check(host),
    );
  });

  describe('with a daemon of the same file at a terminal', () => {
    let host: PackagedHost;
    beforeAll(async () => {
      host = await PackagedHost.start(false);
    });
    afterAll(() => host[Symbol.asyncDispose]());

    // A sample is enough: this daemon and the service's daemon differ only in their folders.
    it.each(sampleOf(Object.entries(EVERY_COMMAND), 12))(
      'does what it should: wins %s',
      (_name, check) => check(host),
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
      // Root has privileges, so root starts the programs as `nobody`.
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const own = (folder: string): string => {
        if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
        return folder;
      };
      const closed = workspace.path('closed');
      const environment = {
        PATH: '/usr/bin:/bin',
        WINS_RUNTIME_DIR: workspace.path('own', 'run'),
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
});
