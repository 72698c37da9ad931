import { command } from '../command-line/command.js';
import { switchOption } from '../command-line/option.js';
import { server } from '../load-applications.js';
import { configOption, PIPE_ENVIRONMENT, textOutput } from './daemon-options.js';

export const doctor = command({
  name: 'doctor',
  summary: 'Examine this host and its daemon, without changing anything',
  details: 'The exit code is 0 if all is well, 1 after warnings, 2 after problems.',
  page: 'errors.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    config: configOption,
    registries: switchOption('Also ask the registries in registries.yaml'),
    output: textOutput,
  },
  examples: [
    ['doctor', 'the daemon of this host'],
    ['doctor --registries', 'also whether the registries answer and accept the logins'],
    ['doctor --config ./config -o json', 'the daemon of another config, as JSON'],
  ],
  run: (values, _given, more) => server().runDoctor(values, more),
});
