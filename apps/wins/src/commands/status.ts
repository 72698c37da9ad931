import { command } from '../command-line/command.js';
import { server } from '../load-applications.js';
import { configOption, PIPE_ENVIRONMENT, textOutput } from './daemon-options.js';

export const status = command({
  name: 'status',
  summary: 'Show the state of this node and its daemon on one screen',
  details:
    'Shows uptime of the daemon, config, runs, tunnels, plan, csi-proxy, upgrades, refusals and disks. The exit code is 0 if all ' +
    'is well, 1 after warnings, 2 after problems.',
  page: 'troubleshooting.md',
  environment: [...PIPE_ENVIRONMENT, ['NO_COLOR', 'if not empty, there are no colors']],
  options: { config: configOption, output: textOutput },
  examples: [
    ['status', 'the daemon of this host'],
    ['status -o json', 'the same as JSON'],
  ],
  run: (values, _given, more) => server().showStatus(values, more),
});
