import { command, textOption } from '@wins/command-line';
import { server } from '../load-applications.js';
import { textOutput } from './daemon-options.js';

/** `wins doctor` */
export const doctor = command({
  name: 'doctor',
  summary: 'Examine this host and the daemon on it; change nothing',
  details: 'Ends with 0 when all is well, 1 after warnings, 2 after problems.',
  page: 'errors.md',
  environment: [
    [
      'WINS_RUNTIME_DIR',
      'the folder of the sockets, where pipes are files; default: the one of the system',
    ],
    ['WINS_SERVICE', 'elsewhere than on Windows: the file that stands for the service'],
  ],
  options: {
    config: textOption(
      'The config file, which must exist; default: c:/etc/rancher/wins/config, elsewhere /etc/rancher/wins/config, which may be absent',
      { placeholder: 'FILE', completes: 'files' },
    ),
    output: textOutput,
  },
  examples: [
    ['doctor', 'the daemon of this host'],
    ['doctor --config ./config -o json', 'that of another config, for programs'],
  ],
  run: (values, _given, more) => server().runDoctor(values, more),
});
