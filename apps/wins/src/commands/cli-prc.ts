// This file is long because it is one list: the commands of `wins cli prc`, with their options and examples.
import { DEFAULT_PIPE_NAME, EXIT, UsageError } from '@wins/base';
import { command, type Group } from '../command-line/command.js';
import {
  listOption,
  type LoadWords,
  numberOption,
  processorsOption,
  reader,
  readOption,
  readWhole,
  sizeOption,
  switchOption,
  textOption,
} from '../command-line/option.js';
import { client } from '../load-applications.js';
import {
  daemonOptions,
  dataOutput,
  PIPE_ENVIRONMENT,
  refuseBoth,
  sinceOption,
  untilOption,
  FILE,
  FOLDER,
} from './daemon-options.js';

/** Offers the names of living runs, or with `detached` those of detached runs, including ended ones. */
function runNames(which: { readonly detached: boolean }): LoadWords {
  return (given, signal) =>
    client().listRunNames({ server: given.get('server') ?? DEFAULT_PIPE_NAME, ...which }, signal);
}

function programOf(path: string | undefined, word: string | undefined): string {
  if (path !== undefined && word !== undefined)
    throw new UsageError('--path cannot be combined with a program without an option');
  const program = path ?? word;
  if (program !== undefined) return program;
  const wanted = 'the path of a program: --path "c:/etc/nginx/nginx.exe"';
  throw new UsageError(`option --path is missing; wanted ${wanted}`);
}

const run = command({
  name: 'run',
  summary: 'Run a program on the host and wait for it to end',
  details:
    'The command prints the output of the program and ends with its exit code; Ctrl-C stops the program. The daemon runs the programs in ' +
    'white_list.processPaths of its config if the file at the same path here has the same content. It refuses a run with a limit that the host ' +
    'cannot enforce or that exceeds maxLimits of the entry. --replace stops the current run of the same program first, for a rolling ' +
    'update; of several clients with --replace the newest wins, and the others end with 125.',
  page: 'getting-started.md',
  environment: PIPE_ENVIRONMENT,
  positional: {
    name: 'program',
    describe: 'the program, in place of --path',
    completes: 'files',
    isOptional: true,
  },
  options: {
    path: textOption('Absolute path of the program, the same here and on the host', FILE),
    args: textOption(
      'Arguments, split at blanks outside quotes; the quotes are kept. Words after -- are passed verbatim',
      { placeholder: 'ARGS' },
    ),
    exposes: textOption(
      'Ports that the firewall opens while the program runs: "TCP:80-81 UDP:53"',
      { placeholder: 'PORTS' },
    ),
    envs: textOption('Environment variables to add: "NAME=value OTHER=value"', {
      placeholder: 'ENVS',
    }),
    env: listOption('One environment variable to add, verbatim; repeatable', {
      placeholder: 'NAME=VALUE',
      short: 'e',
    }),
    dir: textOption('Working directory on the host (default: the folder of the program)', {
      ...FOLDER,
      short: 'w',
    }),
    memory: sizeOption('Memory limit of the run and all that it starts, such as 512MiB'),
    cpus: processorsOption('Processor limit, such as 0.5 or 500m'),
    pids: numberOption('Limit of processes at a time; on Linux, threads count too'),
    'mount-file': listOption(
      'Copy the file PATH as NAME into the folder that the variable WINS_FILES names, and copy ' +
        'it again after each change; repeatable',
      { placeholder: 'PATH=NAME', completes: 'files' },
    ),
    replace: switchOption('Stop the current run of the same program first'),
    detach: {
      ...switchOption(
        'Print the name of the run and end; the run outlives this client and the daemon',
      ),
      short: 'd',
    },
    name: textOption('With --detach: name of the run (default: chosen by the daemon)', {
      placeholder: 'NAME',
    }),
    rm: switchOption('With --detach: remove the run and its output when it ends'),
    restart: textOption(
      'With --detach: restart policy: no, always (or unless-stopped), on-failure or on-failure:N (default: no)',
      { placeholder: 'POLICY', choices: ['no', 'always', 'on-failure', 'unless-stopped'] },
    ),
    ...daemonOptions(),
  },
  rest: 'ARGUMENT…',
  // 125, as in Docker. The usual 64 could be the exit code of the run's program.
  usageExitCode: EXIT.client.failed,
  examples: [
    ['cli prc run --path c:/etc/nginx/nginx.exe', 'run it in the folder of the program'],
    ['cli prc run --path c:/tools/collect.exe -- --name "a b"', 'pass two arguments'],
    ['cli prc run --path c:/etc/nginx/nginx.exe --exposes TCP:80', 'open a port while it runs'],
    ['cli prc run --path c:/tools/collect.exe --memory 512MiB --cpus 0.5', 'with limits'],
    [
      'cli prc run --path c:/tools/collect.exe --mount-file token=token',
      'with a token that rotates',
    ],
    ['cli prc run --detach --name web --path /opt/web', 'in the background; see prc logs'],
    ['cli prc run --rm -d /opt/migrate', 'nothing of it is kept when it has ended'],
    ['cli prc run -d --restart always /opt/web -e PORT=80', 'and restart it whenever it ends'],
  ],
  handler: () => (values, more) =>
    client().runProcess({ ...values, path: programOf(values.path, values.program) }, more),
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
    detached: {
      ...switchOption(
        'List the detached runs, including ended ones; an administrator of the host sees those of all clients',
      ),
      short: 'a',
    },
    ...daemonOptions(),
  },
  examples: [
    ['cli prc ls', 'a table at a terminal, JSON in a pipe'],
    ['cli prc ls -q', 'names only, for prc stop; short for -o name'],
    ['cli prc ls -w', 'follow the runs: redrawn at a terminal, JSON lines in a pipe'],
  ],
  handler: () => client().listProcesses,
});

const stop = command({
  name: 'stop',
  summary: 'Stop runs and all their processes',
  page: 'architecture.md',
  environment: PIPE_ENVIRONMENT,
  positional: {
    name: 'name',
    describe: 'the names that prc ls prints',
    completes: runNames({ detached: false }),
    isList: true,
  },
  details:
    'Asks each run to end, and kills it after 10 s. A detached run then starts only by prc start or prc restart. Only the client that started a run ' +
    'and administrators of the host may kill it at once with --now.',
  options: { now: switchOption('Kill it at once'), output: dataOutput, ...daemonOptions() },
  examples: [
    ['cli prc stop rancher-wins-nginx', 'stop it, whichever client started it'],
    ['cli prc stop --now rancher-wins-nginx', 'kill it at once'],
    ['cli prc stop web mail', 'two detached runs'],
  ],
  handler: () => client().stopProcesses,
});

const named = {
  page: 'detached-runs.md',
  environment: PIPE_ENVIRONMENT,
  positional: {
    name: 'name',
    describe: 'the name that prc run --detach printed, or prc ls --detached',
    completes: runNames({ detached: true }),
  },
  options: daemonOptions(),
} as const;

const readLines = reader('a number of lines, or all', (text) => readWhole(text));

function readTail(text: string): number | undefined {
  return text === 'all' || text === '-1' ? undefined : readLines(text);
}

const logs = command({
  name: 'logs',
  summary: 'Print the output of a detached run',
  details:
    'Prints standard output and standard error of the program to those of this command. Output that was already dropped is reported on standard ' +
    'error. With --follow the command survives a restart or an upgrade of the daemon, and ends with the run.',
  ...named,
  options: {
    follow: { ...switchOption('Wait for more output until the run ends'), short: 'f' },
    since: sinceOption('output'),
    until: untilOption('output'),
    offset: numberOption(
      'Start at this byte, counted over both outputs from the start of the run',
      Number.MAX_SAFE_INTEGER,
    ),
    tail: readOption('Only the last lines, of the last 16 MiB; all or -1: no limit', readTail, {
      short: 'n',
      placeholder: 'NUMBER',
    }),
    timestamps: {
      ...switchOption('Begin each line with the time at which it was written'),
      short: 't',
    },
    stdout: switchOption('Only standard output of the program'),
    stderr: switchOption('Only standard error of the program'),
    ...daemonOptions(),
  },
  check: (values) => {
    refuseBoth(values, 'offset', 'tail');
    refuseBoth(values, 'follow', 'until');
  },
  examples: [
    ['cli prc logs web --tail 20 -f', 'the last 20 lines, then new ones'],
    ['cli prc logs web --since 10m', 'the last ten minutes'],
    ['cli prc logs web -t --stderr --since 2026-03-01T12:00Z', 'errors since then, with times'],
  ],
  handler: () => client().showRunLogs,
});

const attach = command({
  name: 'attach',
  summary: 'Follow the output of a detached run, and exit with its code',
  details: 'The exit code is that of the program. Ctrl-C leaves the run alone.',
  ...named,
  usageExitCode: EXIT.client.failed,
  examples: [['cli prc attach web', 'until it ends, or Ctrl-C']],
  handler: () => client().attachRun,
});

const wait = command({
  name: 'wait',
  summary: 'Wait for a detached run to end, and exit with its code',
  details: 'The exit code is that of the program, even if it ended earlier.',
  ...named,
  usageExitCode: EXIT.client.failed,
  examples: [['cli prc wait web', 'without its output']],
  handler: () => client().waitForRun,
});

const severalNamed = { ...named, positional: { ...named.positional, isList: true } } as const;

const start = command({
  name: 'start',
  summary: 'Start detached runs that were stopped, have ended or were given up',
  details:
    'Starts each run with the arguments, variables and limits of its first start. A run that waits for its restart starts at once; a living run is ' +
    'left alone.',
  ...severalNamed,
  examples: [
    ['cli prc start web', 'after prc stop web'],
    ['cli prc start keep:exporter', 'as an administrator of the host, a program of "keep"'],
  ],
  handler: () => client().startAgain,
});

const restart = command({
  name: 'restart',
  summary: 'Stop detached runs if they live, and start them again',
  details:
    'Asks a living run to end, and kills it after 10 s. If the daemon refuses the new start, the living run continues.',
  ...severalNamed,
  examples: [['cli prc restart web mail', 'one after the other']],
  handler: () => client().restartRuns,
});

const rm = command({
  name: 'rm',
  summary: 'Stop detached runs, and delete them and their output',
  details: 'Asks a running program to end, and kills it after 10 s.',
  ...severalNamed,
  examples: [['cli prc rm web mail', 'whether they run or have ended']],
  handler: () => client().removeRuns,
});

const inspect = command({
  name: 'inspect',
  summary: 'Show all that is known of runs',
  details:
    'Shows arguments, names of variables, limits, owner, restart policy, last start and end, and the size of the output. Values of variables are ' +
    'never shown. A run without --detach is found by the name of its process while it lives; its arguments are not kept.',
  ...severalNamed,
  options: { output: dataOutput, ...daemonOptions() },
  examples: [
    ['cli prc inspect web', 'a table at a terminal, JSON in a pipe'],
    ['cli prc inspect keep:exporter', 'as an administrator of the host, a program of "keep"'],
  ],
  handler: () => client().inspectRuns,
});

const stats = command({
  name: 'stats',
  summary: 'Show the processor time, memory and output of runs',
  details:
    'Shows the runs of this client, or all runs to an administrator of the host, measured over one second. CPU % is of one processor: ' +
    'a run that uses two shows 200. The limit of the run follows a slash. A minus sign means that the system does not report the figure. With NAME, watching ends with the run.',
  page: 'observability.md',
  environment: PIPE_ENVIRONMENT,
  positional: {
    name: 'name',
    describe: 'the name that prc ls prints',
    completes: runNames({ detached: false }),
    isOptional: true,
  },
  options: {
    output: dataOutput,
    watch: { ...switchOption('Measure again each second, until Ctrl-C'), short: 'w' },
    ...daemonOptions(),
  },
  examples: [
    ['cli prc stats', 'a table at a terminal, JSON in a pipe'],
    ['cli prc stats rancher-wins-nginx -w', 'follow one run until it ends'],
  ],
  handler: () => client().showStats,
});

const top = command({
  name: 'top',
  summary: 'Follow the processor time and memory of runs, with bars',
  details:
    'Shows the figures of prc stats -w. A full bar is the limit of the run. Without a limit it is one processor, or the memory of the largest run.',
  page: 'observability.md',
  environment: PIPE_ENVIRONMENT,
  options: { output: dataOutput, ...daemonOptions() },
  examples: [['cli prc top', 'until Ctrl-C']],
  handler: () => (values, more) => client().showStats({ ...values, watch: true, bars: true }, more),
});

export const processes: Group = {
  name: 'prc',
  aliases: ['process'],
  summary: 'Run, list, measure and stop programs on the host',
  page: 'architecture.md',
  commands: [run, ls, stats, top, stop, start, restart, logs, attach, wait, inspect, rm],
};
