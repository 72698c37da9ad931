import { startProgram, type Outcome } from '../testing/built-program.js';
import { WINS } from '../testing/workspace.js';
import { CountedRuns } from './counted-runs.js';

const READER_GONE = 141;

describe('the output of a detached run', () => {
  let runs: CountedRuns;
  let lines: string;
  let silent: string;
  beforeAll(async () => {
    runs = await CountedRuns.start();
    lines = runs.workspace.script(
      'lines',
      'echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three',
    );
    silent = runs.workspace.script('silent', 'echo ready; exec sleep 600');
    const detached = { allow: true };
    runs.workspace.config([
      { path: runs.counter, detached },
      { path: lines, detached },
      { path: silent, detached },
    ]);
    await runs.stopDaemon();
    await runs.startDaemon();
    await runs.prc('run', '-d', '--name', 'lines', '--path', lines);
    await runs.prc('run', '-d', '--name', 'silent', '--path', silent);
    await runs.prc('wait', 'lines');
  });
  afterAll(() => runs[Symbol.asyncDispose]());

  /** Runs a command of the client in a pipe of bash. Returns its exit code, and what the pipe printed. */
  async function piped(
    command: string,
    into: string,
  ): Promise<readonly [code: number, text: string]> {
    const script = `"${process.execPath}" "${WINS}" cli prc ${command} | ${into}; echo "code \${PIPESTATUS[0]}"`;
    const { environment } = runs.workspace;
    const { stdout } = await startProgram('/bin/bash', ['-c', script], environment).outcome;
    const [, text = '', code] = /^([^]*)code (\d+)\n$/.exec(stdout.toString()) ?? [];
    return [Number(code), text];
  }
  const logs = (...options: string[]): Promise<Outcome> => runs.prc('logs', 'lines', ...options);
  const both = async (...options: string[]) => {
    const { code, stdout, stderr } = await logs(...options);
    return [code, stdout.toString(), stderr];
  };

  describe('whose reader has left', () => {
    it.each([
      ['logs -f counted', 'head -n 1', 'line 0\n'],
      ['attach counted', 'grep -m 1 -o line', 'line\n'],
      // These programs print nothing more, and the lists do not change.
      ['logs -f silent', 'head -n 1', 'ready\n'],
      ['logs -f silent', 'grep -q ready', ''],
      ['attach silent', 'true', ''],
    ])('%s | %s ends as a program without a reader does', async (command, into, printed) => {
      if (command.includes('counted') && runs.ofRun().length === 0)
        await runs.detach('--name', 'counted');
      expect(await piped(command, into)).toEqual([READER_GONE, printed]);
    });

    it.each(['ls -w -o name', 'ls -w --detached -o name', 'top -o name', 'stats -w -o name'])(
      '%s ends, although nothing changes',
      async (command) => {
        const [, printed] = await piped(command, 'head -n 1');
        expect(printed).toMatch(/^\S+\n$/);
      },
    );
  });

  it('is given as the last lines, as all lines, and as none', async () => {
    expect(await both('--tail', '2')).toEqual([0, 'three\n', 'two\n']);
    expect(await both('--tail', '0')).toEqual([0, '', '']);
    for (const all of ['--tail=all', '--tail=-1'])
      expect(await both(all)).toEqual([0, 'one\nthree\n', 'two\n']);
  });

  it('is given for one stream alone, whose lines alone count', async () => {
    expect(await both('--stdout')).toEqual([0, 'one\nthree\n', '']);
    expect(await both('--stderr')).toEqual([0, '', 'two\n']);
    expect(await both('--stdout', '--tail', '2')).toEqual([0, 'one\nthree\n', '']);
    expect(await both('--stderr', '--tail', '1')).toEqual([0, '', 'two\n']);
  });

  it('is given with times, between two of them, and since days or a date', async () => {
    const stamped = await logs('-t');
    const [first = '', third = ''] = stamped.stdout.toString().split('\n');
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z one$/);
    expect(stamped.stderr).toMatch(/^\S+Z two\n$/);
    const at = third.slice(0, third.indexOf(' '));
    expect(await both('--since', at)).toEqual([0, 'three\n', '']);
    expect(await both('--until', at)).toEqual([0, 'one\n', 'two\n']);
    for (const since of ['2d', '2026-01-01', '2026-01-01T00:00Z'])
      expect(await both('--since', since)).toEqual([0, 'one\nthree\n', 'two\n']);
    expect(await both('--since', '2099-01-01')).toEqual([0, '', '']);
    expect(await both('--until', '2026-01-01')).toEqual([0, '', '']);
  });

  it('is not given for a time or a number of lines that is none', async () => {
    expect(await both('--since', 'yesterday')).toEqual([
      64,
      '',
      expect.stringContaining('--since'),
    ]);
    expect(await both('--until', '5')).toEqual([64, '', expect.stringContaining('--until')]);
    expect(await both('--tail', 'many')).toEqual([64, '', expect.stringContaining('--tail')]);
    expect(await both('-f', '--until', '1h')).toEqual([
      64,
      '',
      expect.stringContaining('--follow and --until cannot be combined'),
    ]);
  });
});
