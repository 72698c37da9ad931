import { command } from '../command-line/command.js';
import {
  digestOption,
  durationOption,
  requiredOption,
  switchOption,
  textOption,
} from '../command-line/option.js';
import { client, server } from '../load-applications.js';
import { allowDropOption } from './allow-drop.js';
import { textOutput, waitTimeoutOption } from './daemon-options.js';

export const deliver = command({
  name: 'deliver',
  summary: 'Copy a file from this container to a mounted folder of the host',
  details:
    'The file is replaced atomically: readers see the old content or the new. The folder must exist. A new config may not drop ' +
    'systemagent, csi-proxy, hostNetwork, keep or the whole whitelist, unless --allow-drop names it.',
  page: 'upgrade.md',
  options: {
    from: requiredOption('File to copy', 'the file to copy', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    to: requiredOption('File to write, below the mounted folder', 'the file to write', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    merge: switchOption(
      'Merge the keys of --from into the config at --to, and keep its other keys',
    ),
    base: textOption('Config of the host to start from while there is no file at --to', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    'allow-drop': allowDropOption,
    sha256: digestOption('sha256', 'SHA-256 digest that the file must have'),
    settle: durationOption(
      'settle',
      '0s',
      'How long to wait after the file has changed; the daemon notices a new config within 5s',
    ),
    'wait-timeout': waitTimeoutOption('1m', 'another program that has the file open'),
    output: textOutput,
  },
  examples: [
    ['cli deliver --from wins.yaml --to c:/host/wins/config --settle 5s', 'install a config'],
    [
      'cli deliver --merge --from keys.yaml --to c:/host/wins/config',
      'set only the keys that it has',
    ],
  ],
  run: (values, _given, more) => client().deliver({ ...values, configs: server }, more),
});
