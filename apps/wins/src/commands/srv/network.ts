import { command, type Group } from '../../command-line/command.js';
import { switchOption } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const page = 'host-network.md';
const options = { ...ofDaemon, output: textOutput };

const status = command({
  name: 'status',
  summary: 'Say how each route and each part of the network of containers stands',
  ...{ page, inherits, options },
  examples: [['srv network status', 'the network of this host']],
  run: (values, _given, more) => server().showNetwork(values, more),
});

const plan = command({
  name: 'plan',
  summary: 'Say what the daemon would change now',
  ...{ page, inherits, options },
  examples: [['srv network plan', 'the changes that are due']],
  run: (values, _given, more) => server().planNetwork(values, more),
});

const apply = command({
  name: 'apply',
  summary: 'Have the daemon apply the network of the host now',
  details: 'Ends with 1 when a change failed. It also brings back what teardown has taken away.',
  ...{ page, inherits, options },
  examples: [['srv network apply', 'after the cause of a failure is gone']],
  run: (values, _given, more) => server().applyNetwork(values, more),
});

const teardown = command({
  name: 'teardown',
  summary: 'Remove what the daemon made of the network of the host, and keep nothing until "apply"',
  details:
    'Nothing is removed that the daemon did not make. A restart of the daemon, or another config, brings it back as well. Ends with 1 when a change failed.',
  page,
  inherits,
  options: {
    ...ofDaemon,
    'dry-run': switchOption('Only say what would be removed'),
    output: textOutput,
  },
  examples: [['srv network teardown --dry-run', 'what it would remove']],
  run: (values, _given, more) => server().tearDownNetwork(values, more),
});

/** `wins srv network` */
export const networkCommands: Group = {
  name: 'network',
  summary: 'Look at the network that the daemon keeps on the host',
  page,
  commands: [status, plan, apply, teardown],
};
