import { command } from '../command-line/command.js';
import { choiceOption, numberOption, switchOption, textOption } from '../command-line/option.js';
import { doctorProgram, server } from '../load-applications.js';
import {
  configOption,
  FILE,
  periodOptions,
  PIPE_ENVIRONMENT,
  refuseBoth,
  textOutput,
} from './daemon-options.js';

export const status = command({
  name: 'status',
  summary: 'Show the state of this node and its daemon on one screen',
  details:
    'Shows uptime of the daemon, config, disks, refusals, and the state of each feature. The exit code is 0 if all is well, 1 after ' +
    'warnings, 2 after problems.',
  page: 'troubleshooting.md',
  environment: [...PIPE_ENVIRONMENT, ['NO_COLOR', 'if not empty, there are no colors']],
  options: {
    config: configOption,
    html: textOption(
      'Also write a web page with runs, refusals and events to this file, which must not exist yet',
      FILE,
    ),
    output: textOutput,
  },
  examples: [
    ['status', 'the daemon of this host'],
    ['status -o json', 'the same as JSON'],
    ['status --html node-7.html', 'and a page that any browser shows'],
  ],
  handler: () => doctorProgram().showStatus,
});

export const doctor = command({
  name: 'doctor',
  summary: 'Examine this host and its daemon, without changing anything',
  details: 'The exit code is 0 if all is well, 1 after warnings, 2 after problems.',
  page: 'errors.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    config: configOption,
    registries: switchOption('Also ask the registries in registries.yaml'),
    output: textOutput,
  },
  examples: [
    ['doctor', 'the daemon of this host'],
    ['doctor --registries', 'also whether the registries answer and accept the logins'],
    ['doctor --config ./config -o json', 'the daemon of another config, as JSON'],
  ],
  handler: () => doctorProgram().runDoctor,
});

export const logs = command({
  name: 'logs',
  summary: "Print the daemon's own log",
  details:
    'On Windows the log of the service; elsewhere the file that receives standard error of the daemon. Without --lines and a period, prints ' +
    'the newest 100 lines. The output of a run goes to the client that started it.',
  page: 'troubleshooting.md',
  environment: [...PIPE_ENVIRONMENT, ['NO_COLOR', 'if not empty, there are no colors']],
  options: {
    config: configOption,
    follow: { ...switchOption('Follow the log until Ctrl-C'), short: 'f' },
    ...periodOptions('lines'),
    level: choiceOption(
      ['debug', 'info', 'warn', 'error'] as const,
      'Only records that are at least this severe',
    ),
  },
  check: (values) => refuseBoth(values, 'follow', 'until'),
  examples: [
    ['logs', 'the newest 100 lines'],
    ['logs --since 1h --level warn', 'warnings and errors of the last hour'],
    ['logs -f', 'and follow the log'],
  ],
  handler: () => server().showLogs,
});

export const supportBundle = command({
  name: 'support-bundle',
  summary: 'Write an archive for support: facts about this node, without secrets',
  details:
    'Contains config, log, findings of the doctor, events, versions, service, network and ' +
    'pipes. A member that cannot be collected holds the reason instead. ' +
    'The file must not exist yet; once written, only administrators can read it.',
  page: 'observability.md',
  positional: { name: 'file', describe: 'the archive to write, a .tar.gz', completes: 'files' },
  options: { config: configOption, output: textOutput },
  examples: [['support-bundle node-7.tar.gz', 'facts about this node']],
  handler: () => server().makeSupportBundle,
});

/** For compatibility with the Go release; `wins srv debug stacks` reports more. */
export const stackdump = command({
  name: 'stackdump',
  isHidden: true,
  summary: 'Make the Windows service write its stacks to a file',
  page: 'windows.md',
  options: {
    pid: numberOption('Process id of the service (default: from the service manager)'),
    output: textOutput,
  },
  handler: () => server().requestStackDump,
});
