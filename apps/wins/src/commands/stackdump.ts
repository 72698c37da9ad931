import { command } from '../command-line/command.js';
import { numberOption } from '../command-line/option.js';
import { server } from '../load-applications.js';
import { textOutput } from './daemon-options.js';

/** `wins stackdump`, for compatibility with the original; `wins srv debug stacks` reports more. */
export const stackdump = command({
  name: 'stackdump',
  isHidden: true,
  summary: 'Make the Windows service write its stacks to a file',
  page: 'windows.md',
  options: {
    pid: numberOption('pid', 'Process id of the service (default: from the service manager)'),
    output: textOutput,
  },
  run: (values, _given, more) => server().requestStackDump(values, more),
});
