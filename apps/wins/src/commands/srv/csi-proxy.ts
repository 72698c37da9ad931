import { command, type Group } from '../../command-line/command.js';
import { switchOption } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const status = command({
  name: 'status',
  summary: 'Show the configured csi-proxy and its state',
  page: 'csi-proxy.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv csi-proxy status', 'the node of this host']],
  run: (values, _given, more) => server().showCsiProxy(values, more),
});

const apply = command({
  name: 'apply',
  summary: 'Fetch, install, upgrade or start csi-proxy now',
  details:
    'The exit code is 1 if a new csi-proxy did not serve and was rolled back, 65 if the download was refused, and 70 if it failed.',
  page: 'csi-proxy.md',
  inherits,
  options: {
    ...ofDaemon,
    'dry-run': switchOption('Print what would be done, and do nothing'),
    output: textOutput,
  },
  examples: [['srv csi-proxy apply --dry-run', 'what it would do']],
  run: (values, _given, more) => server().applyCsiProxy(values, more),
});

export const csiProxyCommands: Group = {
  name: 'csi-proxy',
  summary: 'Show or apply the csi-proxy that the daemon manages',
  page: 'csi-proxy.md',
  commands: [status, apply],
};
