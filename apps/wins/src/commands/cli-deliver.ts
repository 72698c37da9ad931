import { command, digestOption, durationOption, requiredOption } from '@wins/command-line';
import { callClient } from '../load-applications.js';
import { textOutput, waitTimeoutOption } from './daemon-options.js';

/** `wins cli deliver` */
export const deliver = command({
  name: 'deliver',
  summary: 'Copy a file of this container to a folder of the host that is mounted here',
  details:
    'The file is replaced at once: readers see the old content or the new. The folder must exist.',
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
    sha256: digestOption('sha256', 'SHA-256 digest that the file must have'),
    settle: durationOption(
      'settle',
      '0s',
      'How long to wait after the file has changed; the daemon needs 5s to notice a new config',
    ),
    'wait-timeout': waitTimeoutOption('1m', 'another program that has the file open'),
    output: textOutput,
  },
  examples: [
    ['cli deliver --from wins.yaml --to c:/host/wins/config --settle 5s', 'install a config'],
  ],
  run: (values, _given, more) => callClient().deliver(values, more),
});
