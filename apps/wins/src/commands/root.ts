import { COMMIT, EXIT, VERSION } from '@wins/base';
import { command, type Group } from '../command-line/command.js';
import { cli } from './cli.js';
import { completion } from './completion.js';
import { textOutput } from './daemon-options.js';
import { doctor, logs, stackdump, status, supportBundle } from './diagnosis.js';
import { nodeCommands } from './node.js';
import { srv } from './srv/srv.js';
import { upIn } from './up.js';

const version = command({
  name: 'version',
  summary: 'Print the version of this program',
  page: 'commands.md',
  options: { output: textOutput },
  examples: [['version -o json', 'version and commit, for programs']],
  handler:
    () =>
    async (_values, { show }) => {
      await show({
        value: { version: VERSION, commit: COMMIT },
        text: `rancher-wins version ${VERSION}\n`,
        names: [VERSION],
      });
      return EXIT.client.ok;
    },
});

export const rootOf = (commands: Group['commands']): Group => ({
  name: 'wins',
  summary: 'Operates the Windows host from inside a Windows container.',
  details:
    'Options start with one dash or two; their value follows as --name value or --name=value.',
  page: 'commands.md',
  commands,
  examples: [
    ['cli prc run --path c:/etc/nginx/nginx.exe', 'run a program of the host'],
    ['srv app run --config ./config', 'run the daemon'],
    ['help cli prc run', 'the help of a command, like --help or -h after it'],
  ],
});

export const root = rootOf([
  cli,
  srv,
  upIn(),
  ...nodeCommands,
  status,
  doctor,
  logs,
  supportBundle,
  completion,
  version,
  stackdump,
]);
