import { EXIT } from '@wins/base';
import { command, type Group } from '../command-line/command.js';
import {
  limitOption,
  listOption,
  numberOption,
  processorsOption,
  requiredOption,
  sizeOption,
  switchOption,
  textOption,
} from '../command-line/option.js';
import { client } from '../load-applications.js';
import { daemonOptions, dataOutput, PIPE_ENVIRONMENT, refuseBoth } from './daemon-options.js';

const run = command({
  name: 'run',
  summary: 'Run a program on the host and wait for its end',
  details:
    'The command prints the output of the program and ends with its exit code; an interruption stops the program. The daemon runs what ' +
    'white_list.processPaths of its config lists, if the file at the same path here has the same content. A limit that the host cannot enforce, ' +
    'or that is more than maxLimits of the entry, refuses the run. With --replace a run of the same program makes room, as in a rolling ' +
    'update; of several clients that say so, the newest wins, and the others end with 125.',
  page: 'getting-started.md',
  environment: PIPE_ENVIRONMENT,
  options: {
    path: requiredOption(
      'Absolute path of the program, the same here and on the host',
      'the path of a program: --path "c:/etc/nginx/nginx.exe"',
      { placeholder: 'FILE', completes: 'files' },
    ),
    args: textOption(
      'Arguments, split at blanks outside quotes; the quotes are kept. Words after -- are passed as they are',
      { placeholder: 'ARGS', completes: 'nothing' },
    ),
    exposes: textOption(
      'Ports that the firewall opens while the program runs: "TCP:80-81 UDP:53"',
      {
        placeholder: 'PORTS',
        completes: 'nothing',
      },
    ),
    envs: textOption('Environment variables to add: "NAME=value OTHER=value"', {
      placeholder: 'ENVS',
      completes: 'nothing',
    }),
    dir: textOption('Working directory on the host (default: the folder of the program)', {
      placeholder: 'FOLDER',
      completes: 'folders',
    }),
    memory: sizeOption('memory', 'Most memory of the run and all that it starts, such as 512MiB'),
    cpus: processorsOption('cpus', 'Most processors that it may use, such as 0.5'),
    pids: numberOption('pids', 'Most processes at once; on Linux threads count, too'),
    'mount-file': listOption(
      'A file whose content, and each change of it, the program finds as NAME in the folder of the variable WINS_FILES; it may be given more than once',
      { placeholder: 'PATH=NAME', completes: 'files' },
    ),
    replace: switchOption('Ask a run of the same program to end, and wait for that'),
    detach: {
      ...switchOption(
        'Print a name for the run and end; the run outlives its client and the daemon',
      ),
      short: 'd',
    },
    name: textOption('With --detach: the name for the run (default: one that the daemon chooses)', {
      placeholder: 'NAME',
      completes: 'nothing',
    }),
    restart: textOption(
      'With --detach: start it again when it has ended: no, always, on-failure or on-failure:N (default: no)',
      { placeholder: 'POLICY', completes: 'nothing' },
    ),
    ...daemonOptions(),
  },
  rest: 'ARGUMENT…',
  // As with docker: all other codes may be the program's.
  usageExitCode: EXIT.client.failed,
  examples: [
    ['cli prc run --path c:/etc/nginx/nginx.exe', 'run it in its own folder'],
    ['cli prc run --path c:/tools/collect.exe -- --name "a b"', 'pass two arguments'],
    ['cli prc run --path c:/etc/nginx/nginx.exe --exposes TCP:80', 'open a port while it runs'],
    ['cli prc run --path c:/tools/collect.exe --memory 512MiB --cpus 0.5', 'limit what it uses'],
    [
      'cli prc run --path c:/tools/collect.exe --mount-file token=token',
      'give it a token that rotates',
    ],
    ['cli prc run --detach --name web --path /opt/web', 'leave it running; see prc logs'],
    ['cli prc run -d --restart always --path /opt/web', 'and start it again when it ends'],
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
    detached: switchOption('List the detached runs that are kept, ended ones too'),
    ...daemonOptions(),
  },
  examples: [
    ['cli prc ls', 'a table at a terminal, JSON in a pipe'],
    ['cli prc ls -o name', 'names only, for prc stop'],
    ['cli prc ls -w', 'follow what runs: drawn again at a terminal, JSON lines in a pipe'],
  ],
  run: (values, _given, more) => client().listProcesses(values, more),
});

const stop = command({
  name: 'stop',
  summary: 'Stop a process and all that it started',
  page: 'architecture.md',
  environment: PIPE_ENVIRONMENT,
  positional: { name: 'name', describe: 'the name that prc ls prints', completes: 'runs' },
  details:
    'The run is asked to end, and ended by force after 10 s. With --now it is ended by force at once, which is for the client that started it ' +
    'and for administrators of the host.',
  options: {
    now: switchOption('End it by force at once'),
    output: dataOutput,
    ...daemonOptions(),
  },
  examples: [
    ['cli prc stop rancher-wins-nginx', 'stop it, whichever client started it'],
    ['cli prc stop --now rancher-wins-nginx', 'without waiting for its end in good order'],
  ],
  run: (values, { word }, more) => client().stopProcess({ ...values, name: word }, more),
});

const NAMED_RUN = {
  name: 'name',
  describe: 'the name that prc run --detach printed',
  completes: 'nothing',
} as const;

const logs = command({
  name: 'logs',
  summary: 'Print the output of a detached run',
  details:
    'Standard output and standard error of the program come out of those of this command. Output that is not kept any more is told on standard ' +
    'error. With --follow the command goes on when the daemon is restarted or replaced, and ends with the run.',
  page: 'lasting-runs.md',
  environment: PIPE_ENVIRONMENT,
  positional: NAMED_RUN,
  options: {
    follow: { ...switchOption('Wait for more, until the run has ended'), short: 'f' },
    since: limitOption('since', 'Only what was written within this time, such as 90s or 10m'),
    offset: textOption('Begin at this byte, counted over both outputs from the start of the run', {
      placeholder: 'BYTES',
      completes: 'nothing',
    }),
    tail: numberOption('tail', 'Only the last so many lines'),
    ...daemonOptions(),
  },
  check: (values) => refuseBoth(values, 'offset', 'tail'),
  examples: [
    ['cli prc logs web --tail 20 -f', 'the last lines, and what comes'],
    ['cli prc logs web --since 10m', 'what was written in the last ten minutes'],
  ],
  run: (values, { word }, more) => client().showRunLogs({ ...values, name: word }, more),
});

const attach = command({
  name: 'attach',
  summary: 'Follow a detached run from now on, and end as it does',
  details: 'The exit code is that of the program. An interruption leaves the run alone.',
  page: 'lasting-runs.md',
  environment: PIPE_ENVIRONMENT,
  positional: NAMED_RUN,
  options: daemonOptions(),
  usageExitCode: EXIT.client.failed,
  examples: [['cli prc attach web', 'until it ends, or Ctrl-C']],
  run: (values, { word }, more) => client().attachRun({ ...values, name: word }, more),
});

const wait = command({
  name: 'wait',
  summary: 'Wait for the end of a detached run, and end as it did',
  details: 'The exit code is that of the program, also when it has ended before.',
  page: 'lasting-runs.md',
  environment: PIPE_ENVIRONMENT,
  positional: NAMED_RUN,
  options: daemonOptions(),
  usageExitCode: EXIT.client.failed,
  examples: [['cli prc wait web', 'without its output']],
  run: (values, { word }, more) => client().waitForRun({ ...values, name: word }, more),
});

const rm = command({
  name: 'rm',
  summary: 'End a detached run, and forget it and its output',
  details: 'A run that lives is asked to end, and ended by force after 10 s.',
  page: 'lasting-runs.md',
  environment: PIPE_ENVIRONMENT,
  positional: NAMED_RUN,
  options: daemonOptions(),
  examples: [['cli prc rm web', 'whether it lives or has ended']],
  run: (values, { word }, more) => client().removeRun({ ...values, name: word }, more),
});

const stats = command({
  name: 'stats',
  summary: 'Show the processor time, memory and output of runs',
  details:
    'Shows the runs of this client, and all runs to an administrator of the host, as measured over one second. CPU % is of one processor: ' +
    'a run that uses two has 200. Behind a stroke stands the limit of the run. A minus sign stands for what the system does not tell. With NAME, watching ends with the run.',
  page: 'observability.md',
  environment: PIPE_ENVIRONMENT,
  positional: {
    name: 'name',
    describe: 'the name that prc ls prints',
    completes: 'runs',
    isOptional: true,
  },
  options: {
    output: dataOutput,
    watch: { ...switchOption('Measure again each second, until Ctrl-C'), short: 'w' },
    ...daemonOptions(),
  },
  examples: [
    ['cli prc stats', 'a table at a terminal, JSON in a pipe'],
    ['cli prc stats rancher-wins-nginx -w', 'follow one run to its end'],
  ],
  run: (values, { word }, more) => client().showStats({ ...values, name: word }, more),
});

const top = command({
  name: 'top',
  summary: 'Follow the processor time and memory of runs, with bars',
  details:
    'Shows what prc stats -w shows. A full bar is the limit of the run; without one, of processor time one processor, of memory the run that has most.',
  page: 'observability.md',
  environment: PIPE_ENVIRONMENT,
  options: { output: dataOutput, ...daemonOptions() },
  examples: [['cli prc top', 'until Ctrl-C']],
  run: (values, _given, more) => client().showStats({ ...values, watch: true, bars: true }, more),
});

/** `wins cli prc` */
export const processes: Group = {
  name: 'prc',
  aliases: ['process'],
  summary: 'Run, list, measure and stop programs on the host',
  page: 'architecture.md',
  commands: [run, ls, stats, top, stop, logs, attach, wait, rm],
};
