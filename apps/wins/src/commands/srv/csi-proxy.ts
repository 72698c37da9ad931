import { command, type Group } from '../../command-line/command.js';
import { switchOption } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const status = command({
  name: 'status',
  summary: 'Say what csi-proxy is wanted, and how far it is',
  page: 'csi-proxy.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv csi-proxy status', 'the node of this host']],
  run: (values, _given, more) => server().showCsiProxy(values, more),
});

const apply = command({
  name: 'apply',
  summary: 'Fetch, install, upgrade or start csi-proxy now, or say what that would do',
  details:
    'Ends with 1 when a new csi-proxy did not serve and was taken back, with 65 when what was fetched is refused, and with 70 when it failed.',
  page: 'csi-proxy.md',
  inherits,
  options: {
    ...ofDaemon,
    'dry-run': switchOption('Only say what would be done'),
    output: textOutput,
  },
  examples: [['srv csi-proxy apply --dry-run', 'what it would do']],
  run: (values, _given, more) => server().applyCsiProxy(values, more),
});

/** `wins srv csi-proxy` */
export const csiProxyCommands: Group = {
  name: 'csi-proxy',
  summary: 'Look at csi-proxy, which the daemon keeps',
  page: 'csi-proxy.md',
  commands: [status, apply],
};
