import { command, type Group } from '../../command-line/command.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits } from './options.js';

const check = command({
  name: 'check',
  summary: 'Show which registry has an image, and why others failed',
  details:
    'Asks the registries of registries.yaml in the order of the agent, and unpacks nothing. Uses the proxies of this shell. ' +
    'The exit code is 1 if no registry has the image.',
  page: 'system-agent.md',
  inherits,
  positional: {
    name: 'image',
    describe: 'an image, such as rancher/system-agent-installer-rke2:v1.31.1-rke2r1',
    completes: 'nothing',
  },
  options: { output: textOutput },
  examples: [
    ['srv registry check rancher/pause:3.6', 'which registry has it, by which entry and login'],
    ['srv registry check rancher/pause:3.6 -o json', 'for programs'],
  ],
  run: (values, { word }, more) => server().checkRegistry({ ...values, image: word }, more),
});

export const registryCommands: Group = {
  name: 'registry',
  summary: 'Check the registries that images of plans come from',
  page: 'system-agent.md',
  commands: [check],
};
