import { command, type Group } from '../../command-line/command.js';
import { requiredOption, switchOption } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import { dataOutput, textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const status = command({
  name: 'status',
  summary: 'Show the state of each plan: applied, failed, and its probes',
  page: 'system-agent.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv plan status', 'the node of this host']],
  run: (values, _given, more) => server().showPlanStatus(values, more),
});

const show = command({
  name: 'show',
  summary: 'Show the content of each plan, without its secrets',
  page: 'system-agent.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv plan show -o json', 'for programs']],
  run: (values, _given, more) => server().showPlans(values, more),
});

const history = command({
  name: 'history',
  summary: 'List the applied plans, newest first',
  page: 'system-agent.md',
  inherits,
  options: { ...ofDaemon, output: dataOutput },
  examples: [['srv plan history', 'up to 64 plans']],
  run: (values, _given, more) => server().showPlanHistory(values, more),
});

const apply = command({
  name: 'apply',
  summary: 'Apply a plan from a file once',
  details:
    'The exit code is 1 if an instruction failed, and 65 if the plan cannot be read or a file of it cannot be written.',
  page: 'system-agent.md',
  inherits,
  options: {
    ...ofDaemon,
    file: requiredOption('The plan, as JSON', 'the file of a plan', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    'dry-run': switchOption('Print what would be done, and do nothing'),
    output: textOutput,
  },
  examples: [['srv plan apply --file plan.json --dry-run', 'what it would do']],
  run: (values, _given, more) => server().applyPlan(values, more),
});

export const planCommands: Group = {
  name: 'plan',
  summary: 'Show or apply the plans that this node follows',
  page: 'system-agent.md',
  commands: [status, show, history, apply],
};
