import { command } from '../command-line/command.js';
import { digestOption, durationOption, requiredOption } from '../command-line/option.js';
import { client } from '../load-applications.js';
import { textOutput, waitTimeoutOption } from './daemon-options.js';

/** `wins cli deliver` */
export const deliver = command({
  name: 'deliver',
  summary: 'Copy a file of this container to a folder of the host that is mounted here',
  details: 'It is there whole, or as it was before. The folder must exist.',
  page: 'upgrade.md',
  options: {
    from: requiredOption('The file here', 'the file to bring', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    to: requiredOption('Its path on the host; the folder must exist', 'its path on the host', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    sha256: digestOption('sha256', 'The SHA-256 digest that the file must have'),
    settle: durationOption(
      'settle',
      '0s',
      'How long to wait after a change, until the daemon has seen it: 5s for its config',
    ),
    'wait-timeout': waitTimeoutOption('1m', 'another program that has the file open on the host'),
    output: textOutput,
  },
  examples: [
    ['cli deliver --from wins.yaml --to c:/host/wins/config --settle 5s', 'bring a config'],
  ],
  run: (values, _given, more) => client().deliver(values, more),
});
