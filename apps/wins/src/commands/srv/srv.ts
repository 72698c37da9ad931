import {
  choiceOption,
  digestOption,
  numberOption,
  requiredOption,
  switchOption,
  textOption,
} from '../../command-line/option.js';
import { command, type Group } from '../../command-line/command.js';
import { keeper, server } from '../../load-applications.js';
import { allowDropOption, guardedKeys } from '../allow-drop.js';
import {
  PIPE_ENVIRONMENT,
  recordsOutput,
  refuseBoth,
  recordOptions,
  textOutput,
  FILE,
  FOLDER,
  outputOption,
} from '../daemon-options.js';
import { debugCommands } from './debug.js';
import { featureCommands } from './features.js';
import { inherits, ofDaemon } from './options.js';

const run = command({
  name: 'run',
  summary: 'Run the daemon until it is stopped',
  details: 'The Windows service runs this command.',
  page: 'architecture.md',
  environment: [
    ...PIPE_ENVIRONMENT,
    ['NO_COLOR', 'if not empty, the log on a terminal has no colors'],
  ],
  inherits,
  options: {
    register: switchOption('Create the Windows service with the given options, or update it'),
    unregister: switchOption('Stop and remove the Windows service'),
    'log-file-size': textOption(
      'Maximum size of a log file of the Windows service, 64KiB to 1GiB (default: 10MiB)',
      { placeholder: 'SIZE' },
    ),
    'log-files': textOption('Number of log files to keep, 1 to 100 (default: 5)', {
      placeholder: 'NUMBER',
    }),
    // Without --register, the next two are accepted and ignored, because a service that an earlier release registered may pass them.
    'delayed-start': switchOption(
      'With --register: start the service with a delay after the system starts',
    ),
    'depends-on': textOption('With --register: services that must run first, such as "HNS Tcpip"', {
      placeholder: 'NAMES',
    }),
    profile: choiceOption(
      ['none', 'cpu', 'heap', 'goroutine', 'threadcreate', 'block', 'mutex'] as const,
      'Profile to write when the daemon ends: cpu or heap; the other kinds write nothing',
      { placeholder: 'PROFILE' },
    ),
    'profile-output': textOption(
      'File of the profile (default: wins.cpuprofile or wins.heapprofile; a service writes it beside its logs)',
      FILE,
    ),
  },
  check: (values) => refuseBoth(values, 'register', 'unregister'),
  examples: [
    ['srv app run --config ./config', 'run it on a terminal'],
    ['srv app run --register --config c:/etc/rancher/wins/config', 'create the Windows service'],
  ],
  handler: () => server().runApp,
});

/** Command that a daemon starts to keep its detached runs. */
const keep = command({
  name: 'keep',
  isHidden: true,
  summary: 'Keep detached runs for the daemons of a state folder',
  page: 'detached-runs.md',
  options: { state: requiredOption('State folder', 'the state folder of a daemon') },
  examples: [],
  handler: () => keeper().keepRuns,
});

const check = command({
  name: 'check',
  summary: 'Check the config file: print its problems, or the values in force',
  page: 'config.md',
  inherits,
  options: {
    output: textOutput,
    lenient: switchOption('Report an unknown key as a warning, like the daemon when it starts'),
    'content-only': switchOption(
      'Check a copy that is not installed yet: it must exist; its access list is not checked on Windows',
    ),
    platform: choiceOption(
      ['windows', 'linux'] as const,
      'Operating system of the node that the config is for (default: that of this host)',
      { placeholder: 'SYSTEM' },
    ),
    'explain-migration': switchOption(
      'Print what a config of an earlier release may lack, as YAML to paste',
    ),
  },
  examples: [
    ['srv config check', 'the config of this host'],
    ['srv config check --config ./config -o json', 'another file, with the result as JSON'],
  ],
  handler: () => server().checkConfig,
});

const schema = command({
  name: 'schema',
  summary: 'Print a JSON Schema of the config file, for editors',
  page: 'config.md',
  inherits,
  options: {
    output: outputOption(['json', 'yaml'], 'json'),
  },
  examples: [['srv config schema > wins.schema.json', 'write it to a file']],
  handler: () => server().printSchema,
});

const explain = command({
  name: 'explain',
  summary: 'Explain a key, or whether a program or port would be allowed',
  details: 'The exit code is 126 if it would be refused.',
  page: 'config.md',
  inherits,
  positional: {
    name: 'key',
    describe: 'a key, such as white_list.proxyPorts (default: list all keys)',
    isOptional: true,
    completes: () => server().listConfigKeys(),
  },
  options: {
    path: textOption('Program of the host: would it be allowed, and by which entry?', FILE),
    sha256: textOption('With --path: SHA-256 digest of the file in the container', {
      placeholder: 'DIGEST',
    }),
    port: numberOption('Port of the host: would it be allowed, for TCP and for UDP?'),
    server: textOption('Ask the running daemon on this pipe instead of reading the file', {
      placeholder: 'PIPE',
    }),
    output: textOutput,
  },
  examples: [
    ['srv config explain white_list.proxyPorts', 'what the key means'],
    ['srv config explain --port 9796', 'whether containers may reach the port'],
  ],
  handler: () => server().explainConfig,
});

const reload = command({
  name: 'reload',
  summary: 'Make the running daemon read its config again',
  details:
    'Prints what changed and what needs a restart. If the config is invalid, or drops the key ' +
    `${guardedKeys}, ` +
    'the old config stays in force, and the exit code is 78. --allow-drop accepts the loss.',
  page: 'config.md',
  inherits,
  options: { ...ofDaemon, 'allow-drop': allowDropOption, output: textOutput },
  examples: [
    ['srv config reload', 'the daemon of this host'],
    ['srv config reload --allow-drop csi-proxy', 'a config without csi-proxy'],
  ],
  handler: () => server().reloadConfig,
});

const directory = textOption('Folder of the audit log (default: the one in the config)', FOLDER);

const show = command({
  name: 'show',
  summary: 'Print the records of the audit log, oldest first',
  page: 'architecture.md',
  inherits,
  options: { directory, ...recordOptions('records', 'kind'), output: recordsOutput },
  examples: [
    ['srv audit show --since 2h', 'the decisions of the last two hours'],
    ['srv audit show --refused --client pipe:3', 'everything that this client was refused'],
    ['srv audit show -o json', 'one JSON object per line'],
  ],
  handler: () => server().showAudit,
});

const verify = command({
  name: 'verify',
  summary: 'Check that the audit log is unchanged and has no gap',
  details:
    'The hash chain reveals records that were edited, removed or inserted. To detect missing records at the end, ' +
    'store the digest of the last line elsewhere and pass it with --expect.',
  page: 'threat-model.md',
  inherits,
  options: {
    directory,
    expect: digestOption('SHA-256 digest of a line that the log must have'),
    output: textOutput,
  },
  examples: [['srv audit verify', 'the audit log of this host']],
  handler: () => server().verifyAudit,
});

export const srv: Group = {
  name: 'srv',
  aliases: ['server'],
  summary: 'Run and inspect the daemon',
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
      summary: 'Check, explain and reload the config',
      page: 'config.md',
      commands: [check, schema, explain, reload],
    },
    ...featureCommands,
    debugCommands,
    {
      name: 'audit',
      summary: 'Print and verify the audit log',
      page: 'architecture.md',
      commands: [show, verify],
    },
    keep,
  ],
};
