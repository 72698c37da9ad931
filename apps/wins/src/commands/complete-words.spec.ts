import { completionsOf } from '../command-line/completion/complete-words.js';
import { root } from './root.js';

const runs = () => Promise.resolve(['rancher-wins-x']);
const detachedRuns = () => Promise.resolve(['web', 'mail']);

async function complete(...words: string[]) {
  const configKeys = () => Promise.resolve([['audit.maxFiles', 'how many']] as const);
  const { kind, words: found } = await completionsOf(root, words, {
    runs,
    detachedRuns,
    configKeys,
  });
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
    [['srv', 'config', 'explain', ''], ['audit.maxFiles']],
    [['cli', 'nonsense', ''], []],
    [
      ['cli', 'prc', 'run', '--restart', ''],
      ['no', 'always', 'on-failure', 'unless-stopped'],
    ],
    [['cli', 'prc', 'stop', ''], ['rancher-wins-x']],
    [
      ['cli', 'prc', 'rm', ''],
      ['web', 'mail'],
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
