import { command } from '../command-line/command.js';
import { switchOption } from '../command-line/option.js';
import { server } from '../load-applications.js';
import { configOption, PIPE_ENVIRONMENT, textOutput } from './daemon-options.js';

/** `wins doctor` */
export const doctor = command({
  name: 'doctor',
  summary: 'Examine this host and its daemon, without changing anything',
  details: 'The exit code is 0 if all is well, 1 after warnings, 2 after problems.',
  page: 'errors.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    config: configOption,
    registries: switchOption('Ask the registries that registries.yaml names, too'),
    output: textOutput,
  },
  examples: [
    ['doctor', 'the daemon of this host'],
    ['doctor --registries', 'whether the registries answer and take their logins as well'],
    ['doctor --config ./config -o json', 'the daemon of another config, with the result as JSON'],
  ],
  run: (values, _given, more) => server().runDoctor(values, more),
});
