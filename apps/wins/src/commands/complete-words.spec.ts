import { command, type Group } from '../command-line/command.js';
import { completionsOf } from '../command-line/completion/complete-words.js';
import { textOption, type LoadWords } from '../command-line/option.js';
import { root } from './root.js';

async function complete(...words: string[]) {
  const { kind, words: found } = await completionsOf(root, words);
  return { kind, found: found.map(([word]) => word) };
}

const COMMANDS = [
  'cli',
  'srv',
  'up',
  'install',
  'join',
  'leave',
  'uninstall',
  'suc',
  'status',
  'doctor',
  'logs',
  'support-bundle',
  'completion',
  'version',
  'help',
];

describe('what may follow', () => {
  it.each([
    [[''], COMMANDS],
    [['s'], COMMANDS],
    [
      ['client', 'prc', ''],
      [
        'run',
        'ls',
        'stats',
        'top',
        'stop',
        'start',
        'restart',
        'logs',
        'attach',
        'wait',
        'inspect',
        'rm',
      ],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
    [
      ['srv', 'debug', 'log-level', ''],
      ['debug', 'info', 'warn', 'error', 'default'],
    ],
    [
      ['cli', 'prc', 'ls', '-o', ''],
      ['json', 'yaml', 'table', 'name', 'wide'],
    ],
    [
      ['cli', 'prc', 'ls', '--output='],
      ['json', 'yaml', 'table', 'name', 'wide'],
    ],
    [
      ['cli', 'prc', 'ls', '--output', '=', ''],
      ['json', 'yaml', 'table', 'name', 'wide'],
    ],
    [
      ['doctor', '--output', ''],
      ['text', 'json', 'yaml', 'table', 'name', 'wide'],
    ],
    [['cli', 'nonsense', ''], []],
    [
      ['cli', 'prc', 'run', '--restart', ''],
      ['no', 'always', 'on-failure', 'unless-stopped'],
    ],
    [['cli', 'prc', 'run', '--', ''], []],
    [['cli', 'prc', 'run', '--args', ''], []],
  ])('%j are words: %j', async (words, found) => {
    expect(await complete(...words)).toEqual({ kind: 'words', found });
  });

  it.each([
    [['srv', 'app', 'run', '--config', '']],
    [['srv', 'app', 'run', '--config=']],
    [['cli', 'prc', 'run', '-path', 'x']],
    [['srv', 'debug', 'heap', '']],
    [['cli', 'deliver', '--from', '']],
    [['cli', 'deliver', '--to', '']],
  ])('%j are files', async (words) => {
    expect(await complete(...words)).toEqual({ kind: 'files', found: [] });
  });

  it('are folders where folders are wanted', async () => {
    expect((await complete('cli', 'prc', 'run', '--dir', '')).kind).toBe('folders');
  });

  it('are the options that are not there yet, and none that is hidden', async () => {
    const { found } = await complete('up', '--path', 'x', '--json', '--');
    expect(found).toEqual(expect.arrayContaining(['--sha256', '--output', '--debug']));
    expect(found).not.toEqual(expect.arrayContaining(['--path']));
    expect(found).not.toEqual(expect.arrayContaining(['--apart']));
  });
});

describe('words that a value loads', () => {
  const load: LoadWords = (given) => {
    const server = given.get('server');
    if (server === 'gone') throw new Error('no daemon');
    return Promise.resolve([[`run-of-${server}`, 'a run']]);
  };
  const logs = command({
    name: 'logs',
    summary: 'Print output',
    page: 'logs.md',
    options: { server: textOption('which daemon'), since: textOption('when', { completes: load }) },
    positional: { name: 'name', describe: 'which run', completes: load },
    handler: () => () => Promise.resolve(0),
  });
  const tree: Group = { name: 'wins', summary: 'Do', page: 'a.md', commands: [logs] };

  it.each([
    [['logs', ''], 'run-of-undefined'],
    [['logs', '--server', 'main', ''], 'run-of-main'],
    [['logs', '--server=main', '--since', ''], 'run-of-main'],
  ])('are offered for the options typed so far: %j', async (words, found) => {
    expect(await completionsOf(tree, words)).toEqual({ kind: 'words', words: [[found, 'a run']] });
  });

  it('are none when they cannot be loaded', async () => {
    const words = ['logs', '--server', 'gone', ''];
    expect(await completionsOf(tree, words)).toEqual({ kind: 'words', words: [] });
  });
});
