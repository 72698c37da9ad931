import { UsageError } from '@wins/base';
import { command, type Group } from './command.js';
import {
  choiceOption,
  durationOption,
  listOption,
  requiredOption,
  switchOption,
  textOption,
} from './option.js';
import { runCommandLine } from './run-command-line.js';

let got: unknown[] = [];
const take = (values: Readonly<Record<string, unknown>>): Promise<number> => {
  got.push(values);
  return Promise.resolve(3);
};
const serve = command({
  name: 'serve',
  summary: 'Serve',
  page: 'serve.md',
  rest: 'ARGUMENT…',
  options: {
    path: requiredOption('what', 'a path'),
    wait: durationOption('10s', 'how long'),
    form: choiceOption(['json', 'yaml'], 'which', { short: 'f' }),
    name: { ...listOption('names'), read: (text: string) => text.toUpperCase() },
    fast: switchOption('hurry'),
    folder: textOption('where'),
  },
  check: ({ folder }) => {
    if (folder === '') throw new UsageError('--folder is empty; wanted a folder');
  },
  handler: () => take,
});
const stop = command({
  name: 'stop',
  summary: 'Stop',
  page: 'stop.md',
  options: {},
  positional: { name: 'whom', describe: 'who is stopped' },
  handler: () => take,
});
const root: Group = { name: 'wins', summary: 'Do', page: 'a.md', commands: [serve, stop] };
const output = { showAnswer: () => Promise.resolve(true), printHelp: () => Promise.resolve() };
const run = (...argv: string[]) => runCommandLine(root, argv, output);

const EVERY = { debug: false, quiet: false, help: false, version: false };
const UNSAID = { form: undefined, name: [], fast: false, folder: undefined };

describe('a handler', () => {
  beforeEach(() => {
    got = [];
  });

  it('gets the defaults of what was not typed, as values', async () => {
    expect(await run('serve', '--path', '/a', '--')).toBe(3);
    expect(got).toEqual([{ ...EVERY, ...UNSAID, path: '/a', wait: 10_000, rest: undefined }]);
  });

  it('gets what was typed, each text as it is read, and nothing turned into a number', async () => {
    const names = ['--name=a', '-name', '--b'];
    await run('serve', '-path=007', '--wait', '2m', '-fyaml', ...names, '--fast', '--', '-x', '1');
    expect(got).toEqual([
      {
        ...EVERY,
        path: '007',
        wait: 120_000,
        form: 'yaml',
        name: ['A', '--B'],
        fast: true,
        folder: undefined,
        rest: ['-x', '1'],
      },
    ]);
  });

  it.each([['-x'], ['--'], ['--debug']])(
    'gets a name that looks like an option: -- %s',
    async (word) => {
      expect(await run('stop', '--', word)).toBe(3);
      expect(got).toEqual([{ ...EVERY, whom: word, rest: undefined }]);
    },
  );

  it('is not called when its options do not go together', async () => {
    const said = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(await run('serve', '--path', '/a', '--folder=')).toBe(64);
    expect(got).toEqual([]);
    expect(said).toHaveBeenCalledWith(
      "wins: --folder is empty; wanted a folder; run 'wins help serve' for its options\n",
    );
    said.mockRestore();
  });
});
