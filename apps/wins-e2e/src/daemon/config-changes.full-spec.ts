import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

describe('a daemon whose config file changes', () => {
  const workspace = new Workspace();
  const program = workspace.script('prog', 'exit 0');
  const kept = workspace.path('kept');
  let config: string;
  let daemon: Daemon;
  beforeAll(async () => {
    config = workspace.config([program, kept]);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  /** Changes the config file, and waits until the daemon says what it makes of it. */
  async function change(msg: string, to: () => unknown): Promise<LogRecord> {
    const { length } = daemon.log;
    to();
    return daemon.logged((record) => record.msg === msg, length);
  }
  const mayRun = async (): Promise<boolean> => {
    const words = ['cli', 'prc', 'run', '--path', program];
    return (await runWins(words, workspace.environment)).code === 0;
  };

  it.each<[string, (config: string) => void]>([
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
    async (what, replace) => {
      const rejected = await change('config rejected; the last valid one stays in force', () =>
        replace(config),
      );
      expect(rejected).toMatchObject({ level: 'error' });
      expect(await mayRun()).toBe(true);
      rmSync(config, { recursive: true, force: true });
      await change('config changed', () => workspace.config([program, kept, workspace.path(what)]));
      expect(await mayRun()).toBe(true);
    },
  );

  it('takes a valid new whitelist at once', async () => {
    await change('config changed', () => workspace.config([kept]));
    expect(await mayRun()).toBe(false);
  });
});
