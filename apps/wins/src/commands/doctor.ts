import { command } from '../command-line/command.js';
import { textOption } from '../command-line/option.js';
import { server } from '../load-applications.js';
import { textOutput } from './daemon-options.js';

/** `wins doctor` */
export const doctor = command({
  name: 'doctor',
  summary: 'Examine this host and its daemon, without changing anything',
  details: 'The exit code is 0 if all is well, 1 after warnings, 2 after problems.',
  page: 'errors.md',
  environment: [
    [
      'WINS_RUNTIME_DIR',
      'folder of the sockets that stand for the pipes elsewhere than on Windows',
    ],
    ['WINS_SERVICE', 'file that stands for the service elsewhere than on Windows'],
  ],
  options: {
    config: textOption(
      'Config file, which must exist (default: c:/etc/rancher/wins/config on Windows, /etc/rancher/wins/config elsewhere, which may be absent)',
      { placeholder: 'FILE', completes: 'files' },
    ),
    output: textOutput,
  },
  examples: [
    ['doctor', 'the daemon of this host'],
    ['doctor --config ./config -o json', 'the daemon of another config, with the result as JSON'],
  ],
  run: (values, _given, more) => server().runDoctor(values, more),
});
