import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

async function daemonWithConfig() {
  const workspace = new Workspace();
  const program = workspace.script('prog', 'exit 0');
  const config = workspace.config([program, workspace.path('kept')]);
  const daemon = await Daemon.start(workspace, config);
  const command = ['cli', 'prc', 'run', '--path', program];
  return {
    workspace,
    program,
    config,
    said: async (msg: string): Promise<LogRecord> =>
      await daemon.logged((record) => record.msg === msg),
    mayRun: async () => (await runWins(command, workspace.environment)).code === 0,
    [Symbol.asyncDispose]: async () => {
      await daemon[Symbol.asyncDispose]();
      workspace[Symbol.dispose]();
    },
  };
}

/** The tests run in parallel, because each waits for its daemon to check the config file. */
describe('a daemon whose config file changes', () => {
  it.concurrent('takes a valid new whitelist at once', async () => {
    await using daemon = await daemonWithConfig();
    daemon.workspace.config([daemon.workspace.path('kept')]);
    await daemon.said('config changed');
    expect(await daemon.mayRun()).toBe(false);
  });

  it.concurrent.each<[string, (config: string) => void]>([
    ['garbage', (file) => writeFileSync(file, '\0\u0001: [')],
    [
      'a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      'a file that anybody may write',
      (file) => {
        writeFileSync(file, 'white_list: {}');
        chmodSync(file, 0o666);
      },
    ],
    ['an empty file', (file) => writeFileSync(file, '')],
    ['half a file', (file) => writeFileSync(file, '{ "white_list": { "processPaths": [')],
    ['a value of the wrong type', (file) => writeFileSync(file, 'white_list: 7')],
    [
      'a link to nowhere',
      (file) => {
        rmSync(file);
        symlinkSync('/nowhere/config', file);
      },
    ],
    ['nothing', (file) => rmSync(file)],
  ])(
    'keeps the valid config when the file becomes %s, says so, and recovers',
    async (_what, replace) => {
      await using daemon = await daemonWithConfig();
      const { config, program, workspace } = daemon;
      replace(config);
      const rejected = await daemon.said('config rejected; the last valid one stays in force');
      expect(rejected).toMatchObject({ level: 'error' });
      expect(await daemon.mayRun()).toBe(true);
      rmSync(config, { recursive: true, force: true });
      workspace.config([program, workspace.path('another')]);
      await daemon.said('config changed');
      expect(await daemon.mayRun()).toBe(true);
    },
  );
});
