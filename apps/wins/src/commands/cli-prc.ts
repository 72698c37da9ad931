import { EXIT } from '@wins/wins-program';
import { command, type Group } from '../command-line/command.js';
import { requiredOption, switchOption, textOption } from '../command-line/option.js';
import { client } from '../load-applications.js';
import { daemonOptions, dataOutput, PIPE_ENVIRONMENT } from './daemon-options.js';

const run = command({
  name: 'run',
  summary: 'Run a program of the host and follow it to its end',
  details:
    'Its output, exit code and signals are those of this command. The daemon runs what white_list.processPaths of its config lists, ' +
    'when the file here has the same bytes.',
  page: 'getting-started.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: requiredOption(
      'Absolute path of the program, the same here and on the host',
      'the path of a program: --path "c:/etc/nginx/nginx.exe"',
      { placeholder: 'FILE', completes: 'files' },
    ),
    args: textOption(
      'Arguments, split at blanks outside quotes, which stay part of them; -- passes words exactly',
      { placeholder: 'ARGS', completes: 'nothing' },
    ),
    exposes: textOption('Ports that the program serves: "TCP:80-81 UDP:53"', {
      placeholder: 'PORTS',
      completes: 'nothing',
    }),
    envs: textOption('Environment to add: "NAME=value OTHER=value"', {
      placeholder: 'ENVS',
      completes: 'nothing',
    }),
    dir: textOption("Working directory; default: the program's own", {
      placeholder: 'FOLDER',
      completes: 'folders',
    }),
    ...daemonOptions(),
  },
  rest: 'ARGUMENT…',
  // As with docker: all other codes may be the program's.
  usageExitCode: EXIT.client.failed,
  examples: [
    ['cli prc run --path c:/etc/nginx/nginx.exe', "run it in the program's own folder"],
    ['cli prc run --path c:/tools/collect.exe -- --name "a b"', 'pass these two arguments'],
    ['cli prc run --path c:/etc/nginx/nginx.exe --exposes TCP:80', 'open a port while it runs'],
  ],
  run: (values, { rest }, more) => client().runProcess({ ...values, rest }, more),
});

const ls = command({
  name: 'ls',
  summary: 'List the processes that the daemon runs',
  page: 'architecture.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    output: dataOutput,
    watch: {
      ...switchOption('Print the list again whenever it changes, until Ctrl-C'),
      short: 'w',
    },
    ...daemonOptions(),
  },
  examples: [
    ['cli prc ls', 'a table at a terminal, JSON in a pipe'],
    ['cli prc ls -o name', 'the names alone, for prc stop'],
    ['cli prc ls -w', 'follow what runs: drawn again at a terminal, JSON lines in a pipe'],
  ],
  run: (values, _given, more) => client().listProcesses(values, more),
});

const stop = command({
  name: 'stop',
  summary: 'Stop a process and everything it started',
  page: 'architecture.md',
  environment: PIPE_ENVIRONMENT,
  positional: { name: 'name', describe: 'a name that prc ls prints', completes: 'runs' },
  options: { output: dataOutput, ...daemonOptions() },
  examples: [['cli prc stop rancher-wins-nginx', 'stop it, whoever started it']],
  run: (values, { word = '' }, more) => client().stopProcess({ ...values, name: word }, more),
});

/** `wins cli prc` */
export const processes: Group = {
  name: 'prc',
  aliases: ['process'],
  summary: 'Processes on the host',
  page: 'architecture.md',
  commands: [run, ls, stop],
};
