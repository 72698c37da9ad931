import type { Group } from '../command-line/command.js';

/** The root of a tree that has these commands. */
export const rootOf = (commands: Group['commands']): Group => ({
  name: 'wins',
  summary: 'Operates the Windows host from inside a Windows container.',
  details: 'Options take one dash or two, and their value as --name value or --name=value.',
  page: 'commands.md',
  commands,
  examples: [
    ['cli prc run --path c:/etc/nginx/nginx.exe', 'run a program of the host'],
    ['srv app run --config ./config', 'run the daemon'],
    ['help cli prc run', 'the help of a command, as with --help or -h after it'],
  ],
});
