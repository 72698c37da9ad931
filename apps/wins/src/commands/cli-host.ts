import { command, type Group } from '../command-line/command.js';
import { type Option, requiredOption, textOption } from '../command-line/option.js';
import { adapters } from './adapters.js';
import { client } from '../load-applications.js';
import {
  daemonOptions,
  dataOutput,
  outputOfOriginal,
  PIPE_ENVIRONMENT,
  refuseBoth,
} from './daemon-options.js';

const page = 'compatibility.md';
const environment = PIPE_ENVIRONMENT;

const choice = (what: string, offered: Pick<Option, 'completes'> = {}) => ({
  name: textOption(`Name of the ${what}`, { placeholder: 'NAME', ...offered }),
  address: textOption(`IP address of the ${what}`, { placeholder: 'ADDRESS' }),
});

const addresses = {
  addresses: requiredOption(
    'Addresses and networks: "8.8.8.8 10.1.0.0/16 2001:db8::1"',
    '--addresses "8.8.8.8 2001:db8::1"',
    { placeholder: 'ADDRESSES' },
  ),
};

const getVersion = command({
  name: 'get-version',
  summary: 'Print the operating system version of the host',
  page,
  environment,
  options: { output: outputOfOriginal, ...daemonOptions() },
  examples: [['cli hst get-version -o table', 'as a table']],
  handler: () => client().showVersion,
});

const getAdapter = command({
  name: 'get',
  summary: 'Print a network adapter; by default the one with the default route',
  page,
  environment,
  options: {
    ...choice('adapter', { completes: adapters }),
    output: outputOfOriginal,
    ...daemonOptions(),
  },
  examples: [
    ['cli net get', 'the adapter with the default route'],
    ['cli net get --name Ethernet', 'the adapter with this name'],
  ],
  check: (values) => refuseBoth(values, 'name', 'address'),
  handler: () => client().showAdapter,
});

const getNetwork = command({
  name: 'get-network',
  summary: 'Print a network of the Host Networking Service',
  page,
  environment,
  options: { ...choice('network'), output: outputOfOriginal, ...daemonOptions() },
  examples: [['cli hns get-network --name vxlan0', 'the network with this name']],
  check: (values) => refuseBoth(values, 'name', 'address'),
  handler: () => client().showHnsNetwork,
});

const routes: Group = {
  name: 'route',
  summary: 'List, add and remove routes of the host',
  page,
  commands: [
    command({
      name: 'add',
      summary: 'Route addresses through the gateway of the default adapter',
      details: 'The daemon allows only networks listed in routes.allow of its config.',
      page,
      environment,
      options: { ...addresses, ...daemonOptions() },
      examples: [['cli route add --addresses "10.42.1.0/24"', 'add a network']],
      handler: () => client().addRoutes,
    }),
    command({
      name: 'ls',
      summary: 'List the routes of the host',
      page,
      environment,
      options: { output: dataOutput, ...daemonOptions() },
      examples: [['cli route ls -o table', 'a table, also in a pipe']],
      handler: () => client().listRoutes,
    }),
    command({
      name: 'rm',
      summary: 'Remove routes that "route add" created',
      page,
      environment,
      options: { ...addresses, ...daemonOptions() },
      examples: [['cli route rm --addresses "10.42.1.0/24"', 'remove a network']],
      handler: () => client().removeRoutes,
    }),
  ],
};

export const hostGroups: readonly Group[] = [
  {
    name: 'hst',
    aliases: ['host'],
    summary: 'Operating system of the host',
    page,
    commands: [getVersion],
  },
  {
    name: 'net',
    aliases: ['network'],
    summary: 'Network adapters of the host',
    page,
    commands: [getAdapter],
  },
  { name: 'hns', summary: 'Networks of the Host Networking Service', page, commands: [getNetwork] },
  routes,
];
