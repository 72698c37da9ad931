// every-command.long-spec.ts runs every command.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startProgram, type Outcome } from '../testing/built-program.js';
import { EVERY_COMMAND } from '../testing/every-command.js';
import { namedCommands, type NamedCommand } from '../testing/named-commands.js';
import { packageFolder } from '../testing/packages/package-folder.js';
import { unknownCommands } from '../testing/pages/page-commands.js';
import { Workspace } from '../testing/workspace.js';

describe('the packaged program for Linux', () => {
  const packaged = path.join(packageFolder(), 'wins');
  const run = (...args: string[]): Promise<Outcome> =>
    startProgram(packaged, args, process.env).outcome;
  let commands: NamedCommand[];
  beforeAll(async () => {
    commands = await namedCommands((args) => run(...args));
  });

  it('has no command that is not tested here', () => {
    const leaves = commands.filter(({ below }) => below.length === 0);
    expect(leaves.map(({ name }) => name).sort()).toEqual(Object.keys(EVERY_COMMAND).sort());
  });

  it('has every command and option that the pages name', () => {
    expect(unknownCommands(commands)).toEqual([]);
  });

  it('completes the words of every command as its help has them', async () => {
    for (const { name, below } of commands) {
      if (below.length === 0) continue;
      const words = name.split(' ').filter(Boolean);
      const { stdout } = await run('--get-yargs-completions', 'wins', ...words, '');
      const completed = stdout.toString().split('\n');
      expect([name, completed.map((line) => line.split(':')[0])]).toEqual([
        name,
        expect.arrayContaining([...below]),
      ]);
    }
  });

  it('knows each command by its other names', async () => {
    const named = commands.filter(({ aliases }) => aliases.length > 0);
    expect(named.length).toBeGreaterThan(5);
    for (const { name, aliases, help } of named) {
      const above = name.split(' ').slice(0, -1);
      for (const alias of aliases) {
        const { stdout } = await run(...above, alias, '--help');
        // The help repeats the alias that was typed.
        expect(
          stdout.toString().replaceAll(`wins ${[...above, alias].join(' ')}`, `wins ${name}`),
        ).toBe(help);
      }
    }
  });

  it.each([
    [['install'], 'change a node'],
    [['uninstall', '--dry-run'], 'change a node'],
    [['up', '--service', '/service.json'], 'upgrade a service'],
  ])('changes nothing with %s, as wins is deployed on Windows', async (words, tried) => {
    const { code, stderr } = await run(...words);
    const found = `cannot ${tried} on linux: this command works on Windows only`;
    expect([code, stderr.endsWith(`${found}\n`)]).toEqual([65, true]);
  });

  it('reports that its working directory was removed', async () => {
    using workspace = new Workspace();
    const gone = workspace.path('gone');
    mkdirSync(gone);
    const script = 'rmdir ../gone; exec "$@"';
    const run = (...args: string[]) =>
      startProgram('/bin/sh', ['-c', script, 'sh', packaged, ...args], process.env, { cwd: gone })
        .outcome;
    const { code, stdout, stderr } = await run('cli', 'app', 'info');
    expect([code, stdout.toString()]).toEqual([125, '']);
    expect(stderr).toMatch(/^wins: the working directory no longer exists[^\n]*\n$/);
    mkdirSync(gone);
    expect((await run('--version')).code).toBe(0);
  });
});
