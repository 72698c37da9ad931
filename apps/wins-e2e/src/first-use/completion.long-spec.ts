import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { Daemon } from '../testing/daemon.js';
import { runWins, startWins } from '../testing/built-program.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const ZSH = '/usr/bin/zsh';
const FISH = '/usr/bin/fish';
/** Runs a shell on a terminal of its own. */
const SCRIPT = '/usr/bin/script';

/** Contains `wins` in the PATH, and files whose names look like commands. */
const workspace = new Workspace();
const here = workspace.path('here');
const environment = {
  ...workspace.environment,
  PATH: `${workspace.path('bin')}:/usr/bin:/bin`,
  HOME: workspace.folder,
  TERM: 'dumb',
};
let daemon: Daemon;
let name: string;

beforeAll(async () => {
  workspace.script('bin/wins', `exec ${process.execPath} ${WINS} "$@"`);
  for (const folder of ['srv', 'cli', 'docs', 'run'])
    mkdirSync(`${here}/${folder}`, { recursive: true });
  writeFileSync(`${here}/wins.yaml`, '');
  const stay = workspace.script('stay', 'echo up; exec sleep 1000');
  daemon = await Daemon.start(workspace, workspace.config([stay]));
  const client = startWins(['cli', 'prc', 'run', '--path', stay], workspace.environment);
  await client.printed('up');
  name = 'rancher-wins-stay';
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  workspace[Symbol.dispose]();
});

/** The only line whose completion needs the daemon. */
const ASKS_DAEMON = 'wins cli prc stop ran';
const TYPED = [
  ['wins sr', 'wins srv '],
  ['wins cl', 'wins cli '],
  ['wins cli prc ru', 'wins cli prc run '],
  ['wins help cli prc ru', 'wins help cli prc run '],
  ['wins completion b', 'wins completion bash '],
  [ASKS_DAEMON, 'wins cli prc stop rancher-wins-stay '],
  ['wins cli net get --name l', 'wins cli net get --name lo '],
  ['wins cli prc ls -o ya', 'wins cli prc ls -o yaml '],
  ['wins cli prc run --restart un', 'wins cli prc run --restart unless-stopped '],
  ['wins srv app run --con', 'wins srv app run --config '],
  ['wins srv app run --config w', 'wins srv app run --config wins.yaml '],
  ['wins srv app run --config=w', 'wins srv app run --config=wins.yaml '],
  ['wins cli prc run --dir do', 'wins cli prc run --dir docs/'],
  ['wins srv config explain audit.maxFiles', 'wins srv config explain audit.maxFiles '],
  ['wins cli do', 'wins cli do'],
] as const;

/** Types into a shell at a terminal; returns the completed lines. */
async function type(shell: string, begin: readonly string[]): Promise<string[]> {
  return answered(
    () => typeOnce(shell, begin),
    (lines) => !lines.includes(ASKS_DAEMON),
  );
}

function typeOnce(shell: string, begin: readonly string[]): string[] {
  // Ctrl-A and Ctrl-E wrap the completed line in echo, so that the shell prints it instead of running it.
  const lines = TYPED.map(([typed]) => `${typed}\t\u0001echo "<\u0005>"\n`);
  const { stdout } = spawnSync(SCRIPT, ['-qec', shell, '/dev/null'], {
    cwd: here,
    env: environment,
    input: [...begin.map((line) => `${line}\n`), ...lines, 'exit\n'].join(''),
    encoding: 'utf8',
  });
  return [...stdout.matchAll(/^<([^>]*)>\r$/gm)].map(([, line = '']) => line);
}

/**
 * Calls `complete` up to 5 times, until its result has the names of the runs. A person would also press Tab again, because a busy daemon may need
 * over a second to list its runs.
 */
async function answered<T>(complete: () => T | Promise<T>, hasNames: (found: T) => boolean) {
  let found = await complete();
  for (let tries = 1; tries < 5 && !hasNames(found); tries += 1) found = await complete();
  return found;
}

const completed = TYPED.map(([, line]) => line);
const hasTerminal = existsSync(SCRIPT);

describe('a tab (finding 15)', () => {
  wherePossible(
    it,
    hasTerminal,
    'completion in bash: there is no script(1)',
  )(
    'completes commands, options and values in bash, and never takes a folder for a command',
    async () => {
      const begin = ['source <(wins completion bash); PS1='];
      expect(await type('bash --norc -i', begin)).toEqual(completed);
    },
  );

  wherePossible(
    it,
    hasTerminal && existsSync(ZSH),
    'completion in zsh: it is not installed',
  )('does the same in zsh', async () => {
    const { stdout } = await runWins(['completion', 'zsh'], environment);
    writeFileSync(workspace.path('_wins'), stdout);
    const begin = [
      `fpath=(${workspace.folder} $fpath); autoload -Uz compinit; compinit -u -D`,
      'PS1=; bindkey -e',
    ];
    // zsh removes the blank after a word, and the slash after a folder, unless typing continues.
    const trimmed = (lines: readonly string[]) => lines.map((line) => line.replace(/[ /]$/, ''));
    expect(trimmed(await type(`${ZSH} -f -i`, begin))).toEqual(trimmed(completed));
  });

  wherePossible(
    it,
    existsSync(FISH),
    'completion in fish: it is not installed',
  )('does the same in fish', async () => {
    const complete = TYPED.map(([typed]) => `complete -C '${typed}'; echo ==`);
    const script = ['wins completion fish | source', ...complete].join('; ');
    const offered = await answered(
      () => {
        const options = { cwd: here, env: environment, encoding: 'utf8' } as const;
        const { stdout } = spawnSync(FISH, ['--no-config', '-c', script], options);
        const lists = stdout.split('==\n').slice(0, -1);
        return lists.map((list) => list.replaceAll(/\t.*/g, '').trim());
      },
      (lists) => lists.join().includes(name),
    );
    // fish names what the last word becomes. If no word begins with the typed one, it offers those with fitting descriptions.
    const words = TYPED.map(([, line]) => line.trim().split(' ').at(-1));
    expect(offered.slice(0, -1)).toEqual(words.slice(0, -1));
    expect(offered.at(-1)).not.toContain('docs');
  });

  it('gets a description of each word, for the shells that show it', async () => {
    const ask = async (...words: string[]) =>
      (await runWins(['--get-completions', 'wins', ...words], environment)).stdout.toString();
    expect(await ask('cli', 'prc', '')).toContain('ls\tList the processes that the daemon runs\n');
    const runs = await answered(
      async () => ask('cli', 'prc', 'stop', ''),
      (found) => found.includes(name),
    );
    expect(runs).toBe(`:words\n${name}\ta run of the daemon\n`);
    // Windows PowerShell drops the empty last word, so `=4` passes the number of words.
    const { stdout } = await runWins(
      ['--get-completions=4', 'wins', 'cli', 'prc'],
      workspace.environment,
    );
    expect(stdout.toString()).toContain('stop\t');
  });

  it('asks a daemon that does not answer for a second, and says nothing', async () => {
    daemon.child.kill('SIGSTOP');
    try {
      const words = ['--get-completions', 'wins', 'cli', 'prc', 'stop', ''];
      const { code, stdout, stderr } = await runWins(words, environment);
      expect([code, stdout.toString(), stderr]).toEqual([0, ':words\n', '']);
    } finally {
      daemon.child.kill('SIGCONT');
    }
  });

  it('still answers the scripts of earlier releases, with words alone', async () => {
    const words = ['--get-yargs-completions', 'wins', 'cli', 'prc', ''];
    const { stdout } = await runWins(words, environment);
    expect(stdout.toString()).toBe(
      'run\nls\nstats\ntop\nstop\nstart\nrestart\nlogs\nattach\nwait\ninspect\nrm\n',
    );
  });
});
