import { command, type Group } from '../../command-line/command.js';
import { switchOption } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const page = 'host-network.md';
const options = { ...ofDaemon, output: textOutput };

const status = command({
  name: 'status',
  summary: 'Show the state of each route and of the container network',
  ...{ page, inherits, options },
  examples: [['srv network status', 'the network of this host']],
  run: (values, _given, more) => server().showNetwork(values, more),
});

const plan = command({
  name: 'plan',
  summary: 'Print what the daemon would change now',
  ...{ page, inherits, options },
  examples: [['srv network plan', 'the pending changes']],
  run: (values, _given, more) => server().planNetwork(values, more),
});

const apply = command({
  name: 'apply',
  summary: 'Apply the network of the host now',
  details: 'The exit code is 1 if a change failed. Also restores what teardown removed.',
  ...{ page, inherits, options },
  examples: [['srv network apply', 'after the cause of a failure was fixed']],
  run: (values, _given, more) => server().applyNetwork(values, more),
});

const teardown = command({
  name: 'teardown',
  summary: 'Remove what the daemon changed in the network of the host, until "apply"',
  details:
    'Removes only what the daemon made. A restart of the daemon or a changed config restores it, too. The exit code is 1 if a change failed.',
  page,
  inherits,
  options: {
    ...ofDaemon,
    'dry-run': switchOption('Print what would be removed, and do nothing'),
    output: textOutput,
  },
  examples: [['srv network teardown --dry-run', 'print what would be removed']],
  run: (values, _given, more) => server().tearDownNetwork(values, more),
});

export const networkCommands: Group = {
  name: 'network',
  summary: 'Show or change the network that the daemon manages on the host',
  page,
  commands: [status, plan, apply, teardown],
};
