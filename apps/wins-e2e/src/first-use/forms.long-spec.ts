import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { namedCommands } from '../testing/named-commands.js';
import { Workspace } from '../testing/workspace.js';

/** Commands without data for `--output` to format. They print nothing, a program's output, a log, or a shell script. */
const WITHOUT = [
  'cli prc run',
  'cli prc logs',
  'cli prc attach',
  'cli prc wait',
  'cli prc start',
  'cli prc restart',
  'cli prc rm',
  'cli proxy',
  'cli route add',
  'cli route rm',
  'srv app run',
  'logs',
  'completion',
];
/** Commands without the forms `table` and `name`. */
const JSON_ALONE = ['srv config schema'];

describe('the forms of an answer', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let config: string;
  beforeAll(async () => {
    config = workspace.config(['/usr/bin/true']);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const wins = (...args: string[]) => runWins(args, workspace.environment);

  it.each<[string[], RegExp, RegExp]>([
    [['version'], /^FIELD +VALUE\nversion +v\d.*\ncommit /, /^v\d+\.\d+\.\d+\n$/],
    [
      ['cli', 'deliver', '--from', 'CONFIG', '--to', 'FOLDER/delivered'],
      /^FIELD +VALUE\npath +\/.*\/delivered\nchanged +true\nsha256 +[0-9a-f]{64}\n$/,
      /^\/.*\/delivered\n$/,
    ],
    [
      ['srv', 'config', 'check', '--config', 'CONFIG'],
      /^KEY +VALUE +FROM\n[^]*\nwhite_list\.processPaths\[0\] +\{"path":"\/usr\/bin\/true"\} +line 4\n/,
      /^white_list\.processPaths\[0\]\n$/,
    ],
    [
      ['srv', 'config', 'explain', 'proxyPorts'],
      /^KEY +MEANING\nwhite_list\.proxyPorts +Host TCP/,
      /^white_list\.proxyPorts\n$/,
    ],
    [
      ['srv', 'config', 'reload', '--config', 'CONFIG'],
      /^FIELD +VALUE\nfile +\/.*\nvalid +true\n/,
      /^$/,
    ],
    [
      ['srv', 'audit', 'verify', '--config', 'CONFIG'],
      /^FIELD +VALUE\ndirectory [^]*\nok +true\n/,
      /^$/,
    ],
    [
      ['srv', 'audit', 'show', '--config', 'CONFIG'],
      /^TIME +SEQ +KIND [^]*\n.* 1 +opened\n/,
      /^1\n2\n/,
    ],
  ])('of %j are a table and names too', async (words, table, names) => {
    const args = words.map((word) =>
      word.replace('CONFIG', config).replace('FOLDER', workspace.folder),
    );
    for (const [form, wanted] of [
      ['table', table],
      ['name', names],
    ] as const) {
      const { code, stdout, stderr } = await wins(...args, '-o', form);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.toString()).toMatch(wanted);
    }
  });

  it.each([
    ['jsonpath={.ok} {.records}', 0, /^true \d+\n$/],
    ['custom-columns=NAME:.name', 64, /^$/],
    ['jsonpath={range .files[*]}', 64, /^$/],
  ])(
    'are chosen fields with -o %s, or a sentence that says how to choose',
    async (form, code, printed) => {
      const verified = await wins('srv', 'audit', 'verify', '--config', config, '-o', form);
      expect([verified.code, verified.stdout.toString()]).toEqual([
        code,
        expect.stringMatching(printed),
      ]);
      expect(verified.stderr).toMatch(code === 0 ? /^$/ : /^wins: --output: found .*jsonpath/);
    },
  );

  it('of the doctor are a table, and the names of failed checks', async () => {
    const doctor = (...more: string[]) => wins('doctor', '--config', config, ...more);
    const [table, names] = [await doctor('-o', 'table'), await doctor('-o', 'name')];
    const lines = table.stdout.toString().split('\n').slice(1, -1);
    expect(table.stdout.toString()).toMatch(/^LEVEL +CHECK +FOUND/);
    const unwell = lines.filter((line) => !line.startsWith('ok '));
    expect(names.stdout.toString()).toBe(unwell.map((line) => `${line.split(/ +/)[1]}\n`).join(''));
  });

  it('are json, yaml, table, wide and name for every command that prints data (finding 25)', async () => {
    const commands = await namedCommands((args) => runWins(args, process.env));
    const data = commands.filter(
      ({ name, below }) => below.length === 0 && !WITHOUT.includes(name),
    );
    expect(data.length).toBeGreaterThan(15);
    const lacking = data.flatMap(({ name, help }) => {
      const [, choices = ''] = /-o, --output .*?\[choices: ([^\]]*)\]/s.exec(help) ?? [];
      const wanted = JSON_ALONE.includes(name)
        ? ['json', 'yaml']
        : ['json', 'yaml', 'table', 'wide', 'name'];
      return wanted.every((form) => choices.includes(`"${form}"`)) ? [] : [name];
    });
    expect(lacking).toEqual([]);
  });
});
