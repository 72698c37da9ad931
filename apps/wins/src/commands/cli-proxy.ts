import { DEFAULT_PROXY_PIPE_NAME } from '@wins/base';
import { choiceOption, limitOption, requiredOption, textOption } from '../command-line/option.js';
import { command } from '../command-line/command.js';
import { client, tunnelClient } from '../load-applications.js';
import { PIPE_ENVIRONMENT, waitTimeoutOption, FILE } from './daemon-options.js';

type RefusedPorts = Parameters<ReturnType<typeof tunnelClient>['proxyPorts']>[0]['refusedPorts'];

export const proxy = command({
  name: 'proxy',
  summary: 'Make ports of the host reachable in this container',
  details:
    'The daemon allows the ports listed in white_list.proxyPorts of its config, and for UDP in proxyUdpPorts. The command runs until Ctrl-C.',
  page: 'tunnel.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    publish: requiredOption(
      'Ports to listen on. "TCP:443 TCP:80-81" and UDP:53 forward to the same ports of the host. ' +
        'TCP:8080:9796 forwards port 8080 to port 9796 of the host',
      '--publish "TCP:443 TCP:80-81"',
      { placeholder: 'PORTS' },
    ),
    proxy: {
      ...textOption("Name or path of the daemon's tunnel pipe", { placeholder: 'PIPE' }),
      byDefault: DEFAULT_PROXY_PIPE_NAME,
      read: (text: string) => text,
    },
    'listen-address': textOption(
      'Address to listen on (default: all addresses of this container)',
      { placeholder: 'ADDRESS' },
    ),
    'ready-file': textOption('File that exists while the tunnel is up, for readiness probes', FILE),
    'log-format': {
      ...choiceOption(
        ['pretty', 'json'] as const,
        'Format of messages: pretty for people, json for one object per line with a timestamp',
        { placeholder: 'FORM' },
      ),
      byDefault: 'pretty',
    },
    'wait-timeout': waitTimeoutOption(),
    timeout: limitOption(
      'Time limit of each attempt to open the tunnel, such as 5s or 2m (default: 10s)',
    ),
  },
  examples: [
    ['cli proxy --publish TCP:9796', 'forward port 9796 to the same port of the host'],
    [
      'cli proxy --publish TCP:8080:80 --ready-file /tmp/ready',
      'forward port 8080 to port 80 of the host, with a file for probes',
    ],
  ],
  handler: () => (values, more) => {
    const [, server] = /^(.*)_proxy$/.exec(values.proxy) ?? [];
    const refusedPorts: RefusedPorts = async (ports, signal) =>
      server === undefined ? [] : client().refusedPorts(server, ports, signal);
    return tunnelClient().proxyPorts({ ...values, refusedPorts }, more);
  },
});
