import { command, type Group } from '../command-line/command.js';
import {
  choiceOption,
  numberOption,
  requiredOption,
  switchOption,
  textOption,
} from '../command-line/option.js';
import { server } from '../load-applications.js';
import { refuseBoth, textOutput } from './daemon-options.js';

const FORM = { short: 'o', placeholder: 'FORM' } as const;
const FORMS = 'Form of the answer, as in -oyaml; --json is -o json';

/** Every command of `wins srv` has them. */
const inherits = {
  config: textOption(
    'The config file, which must exist; default: c:/etc/rancher/wins/config, elsewhere /etc/rancher/wins/config, which may be absent',
    {
      placeholder: 'FILE',
      completes: 'files',
    },
  ),
};

const ofDaemon = {
  server: textOption("Name or path of the daemon's pipe; default: that of the config", {
    placeholder: 'PIPE',
    completes: 'nothing',
  }),
} as const;

const run = command({
  name: 'run',
  summary: 'Serve until stopped',
  details: 'Also what the Windows service runs.',
  page: 'architecture.md',
  environment: [
    [
      'WINS_RUNTIME_DIR',
      'the folder of the sockets, where pipes are files; default: the one of the system',
    ],
    ['WINS_SERVICE', 'elsewhere than on Windows: the file that stands for the service'],
    ['NO_COLOR', 'no colours in the log at a terminal'],
  ],
  inherits,
  options: {
    register: switchOption(
      'Register it as a Windows service with the other options, or update that service',
    ),
    unregister: switchOption('Stop and remove the Windows service'),
    'log-file-size': textOption(
      'How large a log file of the Windows service may become: 64KiB to 1GiB; default: 10MiB',
      { placeholder: 'SIZE', completes: 'nothing' },
    ),
    'log-files': textOption('How many log files it keeps: 1 to 100; default: 5', {
      placeholder: 'NUMBER',
      completes: 'nothing',
    }),
    // Ignored without --register: a service of an earlier release may be started with any of them.
    'delayed-start': switchOption('With --register: start some time after the system'),
    'depends-on': textOption(
      'With --register: services that must run before it, as in "HNS Tcpip"',
      { placeholder: 'NAMES', completes: 'nothing' },
    ),
    // Refused, but for such a service.
    profile: textOption('', { isHidden: true }),
    'profile-output': textOption('', { isHidden: true }),
  },
  check: (values) => refuseBoth(values, 'register', 'unregister'),
  examples: [
    ['srv app run --config ./config', 'serve at a terminal'],
    ['srv app run --register --config c:/etc/rancher/wins/config', 'make it a Windows service'],
  ],
  run: (values, _given, more) => server().runApp(values, more),
});

const check = command({
  name: 'check',
  summary: 'Say what is wrong with the config file, or show the values in force',
  page: 'config.md',
  inherits,
  options: {
    output: textOutput,
    lenient: switchOption('Only warn of an unknown key, as the daemon does when it starts'),
    'content-only': switchOption(
      'For a file that will be copied to its place: it must exist; who could change it is not judged on Windows',
    ),
    platform: choiceOption(
      'platform',
      ['windows', 'linux'] as const,
      'The system of the node that the config is for; default: this one',
      { placeholder: 'SYSTEM' },
    ),
    'explain-migration': switchOption(
      'Print, as YAML to paste, what a config of an earlier release may lack',
    ),
  },
  examples: [
    ['srv config check', 'the file of this host'],
    ['srv config check --config ./config -o json', 'another one, for programs'],
  ],
  run: (values, _given, more) => server().checkConfig(values, more),
});

const schema = command({
  name: 'schema',
  summary: 'Print a JSON Schema of the config file, for editors',
  page: 'config.md',
  inherits,
  options: {
    output: {
      ...choiceOption('output', ['json', 'yaml'] as const, FORMS, FORM),
      byDefault: 'json',
    },
  },
  examples: [['srv config schema > wins.schema.json', 'for an editor']],
  run: (values, _given, more) => server().printSchema(values, more),
});

const explain = command({
  name: 'explain',
  summary: 'Say what a key means, or whether a program or port would be allowed',
  details: 'Ends with 1 when it would not be allowed.',
  page: 'config.md',
  inherits,
  positional: {
    name: 'key',
    describe: 'a key, such as white_list.proxyPorts; without one all are listed',
    isOptional: true,
    completes: 'nothing',
  },
  options: {
    path: textOption('A program of the host: would it be allowed, and by which entry', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    sha256: textOption('With --path: the SHA-256 digest that the client sees', {
      placeholder: 'DIGEST',
      completes: 'nothing',
    }),
    port: numberOption('port', 'A TCP port of the host: would it be allowed'),
    server: textOption('Ask the running daemon on this pipe, rather than the file', {
      placeholder: 'PIPE',
      completes: 'nothing',
    }),
    output: textOutput,
  },
  examples: [
    ['srv config explain white_list.proxyPorts', 'what a key means'],
    ['srv config explain --port 9796', 'whether containers may reach that port'],
  ],
  run: (values, { word }, more) => server().explainConfig({ ...values, key: word }, more),
});

const reload = command({
  name: 'reload',
  summary: 'Have the running daemon read its config again',
  details:
    'It says what changed, what takes a restart, or what is wrong: then the config that was in force stays, and it ends with 78.',
  page: 'config.md',
  inherits,
  options: {
    ...ofDaemon,
    output: textOutput,
  },
  examples: [['srv config reload', 'the daemon of this host']],
  run: (values, _given, more) => server().reloadConfig(values, more),
});

const directory = textOption('The folder of a log; default: the one of the daemon of the config', {
  placeholder: 'FOLDER',
  completes: 'folders',
});

const show = command({
  name: 'show',
  summary: 'Print the records, the oldest first',
  page: 'architecture.md',
  inherits,
  options: {
    directory,
    since: textOption('Only records since then: 90s, 2h30m, 7d or 2026-03-01T12:00Z', {
      placeholder: 'TIME',
      completes: 'nothing',
    }),
    output: {
      ...choiceOption('output', ['table', 'json', 'yaml'] as const, FORMS, FORM),
      byDefault: 'table',
    },
  },
  examples: [
    ['srv audit show --since 2h', 'what was decided in the last two hours'],
    ['srv audit show -o json', 'for programs: one object per line'],
  ],
  run: (values, _given, more) => server().showAudit(values, more),
});

const verify = command({
  name: 'verify',
  summary: 'Check that the log is complete and unchanged',
  page: 'threat-model.md',
  inherits,
  options: { directory, output: textOutput },
  examples: [['srv audit verify', 'the log of the daemon of this host']],
  run: (values, _given, more) => server().verifyAudit(values, more),
});

const planStatus = command({
  name: 'status',
  summary: 'Say where each plan stands: what was applied, what failed, each probe',
  page: 'system-agent.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv plan status', 'the node of this host']],
  run: (values, _given, more) => server().showPlanStatus(values, more),
});

const planShow = command({
  name: 'show',
  summary: 'Say what each plan wants, without its secrets',
  page: 'system-agent.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv plan show -o json', 'for programs']],
  run: (values, _given, more) => server().showPlans(values, more),
});

const planHistory = command({
  name: 'history',
  summary: 'List the plans that were applied, the newest first',
  page: 'system-agent.md',
  inherits,
  options: {
    ...ofDaemon,
    output: {
      ...choiceOption('output', ['table', 'json', 'yaml'] as const, FORMS, FORM),
      byDefault: 'table',
    },
  },
  examples: [['srv plan history', 'up to 64 plans']],
  run: (values, _given, more) => server().showPlanHistory(values, more),
});

const planApply = command({
  name: 'apply',
  summary: 'Apply a plan from a file once, or say what that would do',
  details:
    'Ends with 1 when an instruction failed, and with 65 when the plan cannot be read or a file of it cannot be made.',
  page: 'system-agent.md',
  inherits,
  options: {
    ...ofDaemon,
    file: requiredOption('The plan, as JSON', 'the file of a plan', {
      placeholder: 'FILE',
      completes: 'files',
    }),
    'dry-run': switchOption('Only say what would be done'),
    output: textOutput,
  },
  examples: [['srv plan apply --file plan.json --dry-run', 'what it would do']],
  run: (values, _given, more) => server().applyPlan(values, more),
});

/** `wins srv` */
export const srv: Group = {
  name: 'srv',
  aliases: ['server'],
  summary: 'The daemon',
  page: 'architecture.md',
  options: inherits,
  commands: [
    {
      name: 'app',
      aliases: ['application'],
      summary: 'Run the daemon',
      page: 'architecture.md',
      commands: [run],
    },
    {
      name: 'config',
      summary: 'Look at the config file',
      page: 'config.md',
      commands: [check, schema, explain, reload],
    },
    {
      name: 'plan',
      summary: 'Look at the plans that this node follows',
      page: 'system-agent.md',
      commands: [planStatus, planShow, planHistory, planApply],
    },
    {
      name: 'audit',
      summary: 'Look at the audit log',
      page: 'architecture.md',
      commands: [show, verify],
    },
  ],
};
