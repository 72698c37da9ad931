import { COMMIT, EXIT, VERSION } from '@wins/wins-program';
import { command } from '../command-line/command.js';
import { cli } from './cli.js';
import { completion } from './completion.js';
import { textOutput } from './daemon-options.js';
import { doctor } from './doctor.js';
import { nodeCommands } from './node.js';
import { rootOf } from './root-of.js';
import { srv } from './srv/srv.js';
import { stackdump } from './stackdump.js';
import { supportBundle } from './support-bundle.js';
import { upIn } from './up.js';

const version = command({
  name: 'version',
  summary: 'Print the version of this program',
  page: 'commands.md',
  options: { output: textOutput },
  examples: [['version -o json', 'version and commit, for programs']],
  run: async (_values, _given, { show }) => {
    await show({
      value: { Version: VERSION, Commit: COMMIT },
      text: `rancher-wins version ${VERSION}\n`,
      names: [VERSION],
    });
    return EXIT.client.ok;
  },
});

/** Every command of wins. */
export const root = rootOf([
  cli,
  srv,
  upIn(),
  ...nodeCommands,
  doctor,
  supportBundle,
  completion,
  version,
  stackdump,
]);
