import { command, type Group } from '../../command-line/command.js';
import { requiredOption, switchOption } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import {
  dataOutput,
  FILE,
  recordOptions,
  recordsOutput,
  refuseBoth,
  textOutput,
} from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const asText = { inherits, options: { ...ofDaemon, output: textOutput } };
const dryRun = switchOption('Print what would be done, and do nothing');
const agent = 'system-agent.md';
const network = 'host-network.md';

const planCommands: Group = {
  name: 'plan',
  summary: 'Show or apply the plans that this node follows',
  page: agent,
  commands: [
    command({
      ...asText,
      name: 'status',
      summary: 'Show the state of each plan, such as applied or failed, and its probes',
      page: agent,
      examples: [['srv plan status', 'the plans of this node']],
      handler: () => server().showPlanStatus,
    }),
    command({
      ...asText,
      name: 'show',
      summary: 'Show the content of each plan, without its secrets',
      page: agent,
      examples: [['srv plan show -o json', 'for programs']],
      handler: () => server().showPlans,
    }),
    command({
      inherits,
      name: 'history',
      summary: 'List the applied plans, newest first',
      page: agent,
      options: { ...ofDaemon, output: dataOutput },
      examples: [['srv plan history', 'up to 64 plans']],
      handler: () => server().showPlanHistory,
    }),
    command({
      inherits,
      name: 'apply',
      summary: 'Apply a plan from a file once',
      details:
        'The exit code is 1 if an instruction failed, and 65 if the plan cannot be read or a file of it cannot be written.',
      page: agent,
      options: {
        ...ofDaemon,
        file: requiredOption('The plan, as JSON', 'the file of a plan', FILE),
        'dry-run': dryRun,
        output: textOutput,
      },
      examples: [['srv plan apply --file plan.json --dry-run', 'what it would do']],
      handler: () => server().applyPlan,
    }),
  ],
};

const registryCommands: Group = {
  name: 'registry',
  summary: 'Check the registries that images of plans come from',
  page: agent,
  commands: [
    command({
      inherits,
      name: 'check',
      summary: 'Show which registry has an image, and why others failed',
      details:
        'Asks the registries of registries.yaml in the same order as the agent, ' +
        'and unpacks nothing. Uses the proxies set in this shell. ' +
        'The exit code is 1 if no registry has the image.',
      page: agent,
      positional: {
        name: 'image',
        describe: 'an image, such as rancher/system-agent-installer-rke2:v1.31.1-rke2r1',
      },
      options: { output: textOutput },
      examples: [
        ['srv registry check rancher/pause:3.6', 'which registry has it, by which entry and login'],
        ['srv registry check rancher/pause:3.6 -o json', 'for programs'],
      ],
      handler: () => server().checkRegistry,
    }),
  ],
};

const csiProxyCommands: Group = {
  name: 'csi-proxy',
  summary: 'Show or apply the csi-proxy that the daemon manages',
  page: 'csi-proxy.md',
  commands: [
    command({
      ...asText,
      name: 'status',
      summary: 'Show the configured csi-proxy and its state',
      page: 'csi-proxy.md',
      examples: [['srv csi-proxy status', 'csi-proxy on this node']],
      handler: () => server().showCsiProxy,
    }),
    command({
      inherits,
      name: 'apply',
      summary: 'Fetch, install, upgrade or start csi-proxy now',
      details:
        'The exit code is 1 if a new csi-proxy did not serve and was rolled back, ' +
        '65 if the download was refused, and 70 after any other failure.',
      page: 'csi-proxy.md',
      options: { ...ofDaemon, 'dry-run': dryRun, output: textOutput },
      examples: [['srv csi-proxy apply --dry-run', 'what it would do']],
      handler: () => server().applyCsiProxy,
    }),
  ],
};

const networkCommands: Group = {
  name: 'network',
  summary: 'Show or change the network that the daemon manages on the host',
  page: network,
  commands: [
    command({
      ...asText,
      name: 'status',
      summary: 'Show the state of each route and of the container network',
      page: network,
      examples: [['srv network status', 'the network of this host']],
      handler: () => server().showNetwork,
    }),
    command({
      ...asText,
      name: 'plan',
      summary: 'Print what the daemon would change now',
      page: network,
      examples: [['srv network plan', 'the pending changes']],
      handler: () => server().planNetwork,
    }),
    command({
      ...asText,
      name: 'apply',
      summary: 'Apply the network of the host now',
      details:
        'The exit code is 1 if a change failed, or a port is not relayed. Also restores what teardown removed.',
      page: network,
      examples: [['srv network apply', 'after the cause of a failure was fixed']],
      handler: () => server().applyNetwork,
    }),
    command({
      inherits,
      name: 'teardown',
      summary: 'Remove what the daemon changed in the host network; "apply" restores it',
      details:
        'Removes only what the daemon made. A restart of the daemon or a changed config restores it, too. The exit code is 1 if a change failed.',
      page: network,
      options: {
        ...ofDaemon,
        'dry-run': switchOption('Print what would be removed, and do nothing'),
        output: textOutput,
      },
      examples: [['srv network teardown --dry-run', 'print what would be removed']],
      handler: () => server().tearDownNetwork,
    }),
  ],
};

const eventsCommand = command({
  inherits,
  name: 'events',
  summary: 'Print the recent events of the daemon, oldest first',
  details:
    'The last 10,000 decisions, ends of runs, reloads, upgrades, plans and faults. When no daemon answers, reads them from the disk.',
  page: 'observability.md',
  options: {
    ...ofDaemon,
    follow: switchOption('Follow the events until Ctrl-C', { short: 'f' }),
    ...recordOptions('events', 'type'),
    output: recordsOutput,
  },
  check: (values) => refuseBoth(values, 'follow', 'until'),
  examples: [
    ['srv events --since 2h', 'the last two hours'],
    ['srv events -n 20 --refused', 'the last 20 refusals'],
    ['srv events -f -o json', 'one JSON object per line, as it happens'],
  ],
  handler: () => server().showEvents,
});

const metricsCommand = command({
  ...asText,
  name: 'metrics',
  summary: 'Print the metrics of the running daemon in the format of Prometheus',
  details: 'The exit code is 69 if metrics are disabled.',
  page: 'observability.md',
  examples: [['srv metrics', 'the same as a scrape']],
  handler: () => server().showMetrics,
});

export const featureCommands: Group['commands'] = [
  planCommands,
  registryCommands,
  csiProxyCommands,
  networkCommands,
  eventsCommand,
  metricsCommand,
];
