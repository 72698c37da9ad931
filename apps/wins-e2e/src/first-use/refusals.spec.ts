import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

describe('a refusal', () => {
  const workspace = new Workspace();
  const tool = workspace.script('tool', 'echo ran');
  const unlisted = workspace.script('unlisted', 'echo ran');
  let daemon: Daemon;
  let config: string;
  beforeAll(async () => {
    config = workspace.config([tool, 'tool.sh']);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const run = (program: string) =>
    runWins(['cli', 'prc', 'run', '--path', program], workspace.environment);

  it('of a program that is not listed names the key, the file, and the command that shows the list', async () => {
    const { code, stderr } = await run(unlisted);
    expect({ code, stderr }).toEqual({
      code: 126,
      stderr:
        `wins: the daemon refused: cannot run "${unlisted}": it is not listed; add it to white_list.processPaths ` +
        `of ${config} on the host (wins srv config check --config ${config} shows the list)\n`,
    });
  });

  it('tells a client no more of the host than the file and the key', async () => {
    const { stderr } = await run(unlisted);
    expect(stderr).not.toContain(`${tool}"`);
    expect(stderr).not.toContain('tool.sh');
  });

  it('has no number of the threat model in its message, and has it in its record', async () => {
    const { stderr } = await run(unlisted);
    expect(stderr).not.toMatch(/\bA\d+ /);
    const record = await daemon.logged(
      ({ rule }) => typeof rule === 'string' && /^A15 /.test(rule),
    );
    expect(record).toMatchObject({ action: 'start', verdict: 'refused', path: unlisted });
  });

  it('of an entry that can never match is logged at start with its key and position, without a number', async () => {
    const { problem } = await daemon.logged(({ msg }) => msg === 'this entry can never match');
    expect(problem).toBe(
      `${config}:5:7: white_list.processPaths[1]: found "tool.sh": it is not absolute, expected the whole path; correct or remove it: it never matches`,
    );
  });

  it('of every program, by a list that is empty, names the key and the file too', async () => {
    using other = new Workspace();
    const program = other.script('tool', 'echo ran');
    const empty = other.config([]);
    await using _daemon = await Daemon.start(other, empty);
    const { code, stderr } = await runWins(
      ['cli', 'prc', 'run', '--path', program],
      other.environment,
    );
    expect(code).toBe(126);
    expect(stderr).toContain(
      'no program may run: the list is empty; add it to white_list.processPaths of',
    );
    expect(stderr).toContain(`wins srv config check --config ${empty} shows the list`);
  });
});
