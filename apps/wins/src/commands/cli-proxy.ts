import { DEFAULT_PROXY_PIPE_NAME } from '@wins/wins-program';
import { choiceOption, command, requiredOption, textOption } from '@wins/command-line';
import { client } from '../load-applications.js';
import { PIPE_ENVIRONMENT, timeoutOption, waitTimeoutOption } from './daemon-options.js';

/** `wins cli proxy` */
export const proxy = command({
  name: 'proxy',
  summary: 'Make ports of the host reachable in this container',
  details:
    'The daemon allows the ports of white_list.proxyPorts of its config. It goes on until it is told to end.',
  page: 'tunnel.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    publish: requiredOption(
      'Ports to listen on, which lead to the same ports of the host: "TCP:443 TCP:80-81"; ' +
        'TCP:8080:9796 leads to host port 9796',
      '--publish "TCP:443 TCP:80-81"',
      { placeholder: 'PORTS', completes: 'nothing' },
    ),
    proxy: {
      ...textOption("Name or path of the daemon's tunnel pipe", { placeholder: 'PIPE' }),
      byDefault: DEFAULT_PROXY_PIPE_NAME,
      read: (text: string) => text,
    },
    'listen-address': textOption('Address to listen on; default: all of this container', {
      placeholder: 'ADDRESS',
      completes: 'nothing',
    }),
    'ready-file': textOption('A file that exists exactly while the tunnel is up', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    'log-format': {
      ...choiceOption(
        'log-format',
        ['pretty', 'json'] as const,
        'pretty for people, json for programs: one object per line, with its time',
        { placeholder: 'FORM' },
      ),
      byDefault: 'pretty',
    },
    'wait-timeout': waitTimeoutOption(),
    timeout: timeoutOption('an attempt to open the tunnel may take; default: 10s'),
  },
  examples: [
    ['cli proxy --publish TCP:9796', 'port 9796 of this container is that of the host'],
    [
      'cli proxy --publish TCP:8080:80 --ready-file /tmp/ready',
      'another port, and a file for probes',
    ],
  ],
  run: (values, _given, more) => client().proxyPorts(values, more),
});
