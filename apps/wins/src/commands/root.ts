import { EXIT, VERSION } from '@wins/wins-program';
import { command, type Group } from '@wins/command-line';
import { cli } from './cli.js';
import { completion } from './completion.js';
import { doctor } from './doctor.js';
import { srv } from './srv.js';
import { upIn, type Inside } from './up.js';

const version = command({
  name: 'version',
  summary: 'Say which release this is',
  page: 'commands.md',
  options: {},
  run: () => {
    process.stdout.write(`rancher-wins version ${VERSION}\n`);
    return Promise.resolve(EXIT.client.ok);
  },
});

/** Every command of wins. */
export const root: Group = {
  name: 'wins',
  summary: 'Operates the Windows host from inside a Windows container.',
  details: 'A command takes its options with one dash or two, and as --name value or --name=value.',
  page: 'commands.md',
  commands: [cli, srv, upIn(), doctor, completion, version],
  examples: [
    ['cli prc run --path c:/etc/nginx/nginx.exe', 'run a program of the host'],
    ['srv app run --config ./config', 'run the daemon'],
    ['help cli prc run', 'how to use a command; --help and -h after it do the same'],
  ],
};

/** All that a program may do that a daemon has started for a client. */
export const rootInRun = (inside: Inside): Group => ({ ...root, commands: [upIn(inside)] });
