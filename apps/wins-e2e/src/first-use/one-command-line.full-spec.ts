import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { runWins, startWins } from '../testing/built-program.js';
import { namedCommands } from '../testing/named-commands.js';
import { ROOT, Workspace } from '../testing/workspace.js';

describe('one command line', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  beforeAll(async () => {
    const stay = workspace.script('stay', 'echo up; exec sleep 1000');
    daemon = await Daemon.start(workspace, workspace.config([stay]));
    await startWins(['cli', 'prc', 'run', '--path', stay], workspace.environment).printed('up');
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const wins = (...args: string[]) => runWins(args, workspace.environment);
  const print = async (...args: string[]) => {
    const { code, stdout, stderr } = await wins(...args);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.toString();
  };

  it.each([[['help', 'cli', 'prc', 'run']], [['cli', 'prc', 'run', '-h']]])(
    'helps with what a command does, its options, variables and examples (finding 14): %j',
    async (args) => {
      const help = await print(...args);
      for (const part of [
        'wins cli prc run [PROGRAM] [options] [-- ARGUMENT…]',
        'Run a program on the host and wait for it to end',
        '[default: "rancher_wins"]',
        'the quotes are kept. Words after -- are passed verbatim',
        'Options of every command:',
        'Examples:',
        'WINS_RUNTIME_DIR',
        ' in the sources of v',
      ])
        expect(help).toContain(part);
    },
  );

  it('has a manual page for each command, and one that names them all', async () => {
    const commands = await namedCommands((args) => wins(...args));
    const leaves = commands.filter(({ below }) => below.length === 0).map(({ name }) => name);
    const manuals = path.join(ROOT, 'docs', 'man');
    const pages = leaves.map((name) => `wins-${name.replaceAll(' ', '-')}.1`);
    expect(readdirSync(manuals).sort()).toEqual([...pages, 'wins.1'].sort());
    const top = readFileSync(path.join(manuals, 'wins.1'), 'utf8').replaceAll('\\-', '-');
    expect(leaves.filter((name) => !top.includes(`\\fBwins ${name}\\fR\n`))).toEqual([]);
  });

  it('prints a list in the requested form (findings 14 and 25)', async () => {
    const [row] = JSON.parse(await print('cli', 'prc', 'ls')) as { name: string }[];
    expect(row).toMatchObject({ name: 'rancher-wins-stay', state: 'running' });
    expect(await print('cli', 'prc', 'ls', '-oyaml')).toMatch(
      /^- name: "rancher-wins-stay"\n {2}process: /,
    );
    expect(JSON.parse(await print('cli', 'prc', 'ls', '--json'))).toEqual([row]);
    expect(await print('cli', 'prc', 'ls', '-o', 'name')).toBe('rancher-wins-stay\n');
    expect(await print('cli', 'prc', 'ls', '-o=table')).toMatch(/^NAME +PID +STATE .*\nrancher/);
  });

  it('has the same forms for one answer, and by default JSON as in the Go release', async () => {
    expect(JSON.parse(await print('cli', 'app', 'info'))).toHaveProperty('Server.Checksum');
    expect(await print('cli', 'app', 'info', '-o', 'yaml')).toMatch(/^Client:\n {2}Checksum: "/);
    expect(await print('cli', 'app', 'info', '-oname')).toMatch(/^(v\d+\.\d+\.\d+\n){2}$/);
    const config = workspace.path('config');
    const checked = await print('srv', 'config', 'check', '--config', config, '-oyaml');
    expect(checked).toContain(`file: "${config}"\nfound: true\n`);
    const doctor = await wins('doctor', '--config', config, '-o', 'yaml');
    expect(doctor.stdout.toString()).toMatch(/^healthy: (?:true|false)\nfindings:\n {2}- check: "/);
  });
});
