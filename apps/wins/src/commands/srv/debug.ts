import { command, type Group } from '../../command-line/command.js';
import { durationOption, readOption } from '../../command-line/option.js';
import { quoteText, UsageError } from '@wins/base';
import { server } from '../../load-applications.js';
import { dataOutput, textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const page = 'observability.md';

function secondsOption(byDefault: string) {
  const read = (text: string): number => {
    const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
    if (seconds > 0 && seconds <= 60) return seconds;
    throw new UsageError(`--seconds: found ${quoteText(text)}; wanted more than 0 and at most 60`);
  };
  const describe = 'How long to record, up to 60 seconds';
  const option = readOption(describe, read, {
    ...({ placeholder: 'SECONDS', completes: 'nothing', byDefault } as const),
  });
  return { ...option, read };
}

const file = {
  name: 'file',
  describe: 'a new file, which only this user can read',
  completes: 'files',
} as const;

const stacks = command({
  name: 'stacks',
  summary: 'Print the stacks of the daemon, and what it waits for',
  page,
  inherits,
  options: { ...ofDaemon, seconds: secondsOption('1'), output: textOutput },
  examples: [['srv debug stacks --seconds 5', 'what a busy daemon is doing']],
  run: (values, _given, more) => server().showStacks(values, more),
});

const report = command({
  name: 'report',
  summary: 'Print the diagnostic report of the runtime, without secrets',
  page,
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv debug report', 'versions, memory, native stack, handles']],
  run: (values, _given, more) => server().showReport(values, more),
});

const heap = command({
  name: 'heap',
  summary: 'Write a heap snapshot of the daemon, secrets included, to a file',
  details:
    'The daemon pauses for about a second per 10 MB of its heap, and needs up to 16 times that memory meanwhile. It refuses above 64 MiB.',
  page,
  inherits,
  positional: file,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv debug heap wins.heapsnapshot', 'for the memory panel of Chrome']],
  run: (values, { word }, more) => server().writeHeap({ ...values, file: word }, more),
});

const cpu = command({
  name: 'cpu',
  summary: 'Record a CPU profile of the daemon to a file',
  page,
  inherits,
  positional: file,
  options: { ...ofDaemon, seconds: secondsOption('10'), output: textOutput },
  examples: [['srv debug cpu --seconds 30 wins.cpuprofile', 'for Chrome or VS Code']],
  run: (values, { word }, more) => server().writeCpu({ ...values, file: word }, more),
});

const trace = command({
  name: 'trace',
  summary: "Record a trace of the daemon's runtime to a file",
  page,
  inherits,
  positional: file,
  options: { ...ofDaemon, seconds: secondsOption('10'), output: textOutput },
  examples: [['srv debug trace wins-trace.json', 'for Perfetto']],
  run: (values, { word }, more) => server().writeTrace({ ...values, file: word }, more),
});

const handles = command({
  name: 'handles',
  summary: 'List the open handles of the daemon, by kind',
  page,
  inherits,
  options: { ...ofDaemon, output: dataOutput },
  examples: [['srv debug handles', 'sockets, timers, files']],
  run: (values, _given, more) => server().showHandles(values, more),
});

const logLevel = command({
  name: 'log-level',
  summary: 'Print the log level of the daemon, or change it for some time',
  page,
  inherits,
  positional: {
    name: 'level',
    describe: 'debug, info, warn or error; default restores the level of the config',
    isOptional: true,
    choices: ['debug', 'info', 'warn', 'error', 'default'],
  },
  options: {
    ...ofDaemon,
    for: durationOption(
      'for',
      '10m',
      'How long, such as 10m or 2h; then the level is restored',
      1000,
    ),
    output: textOutput,
  },
  examples: [['srv debug log-level debug --for 5m', 'log each request for five minutes']],
  run: (values, { word }, more) => server().changeLogLevel({ ...values, level: word }, more),
});

const connections = command({
  name: 'connections',
  summary: 'List the connections of the daemon',
  page,
  inherits,
  options: { ...ofDaemon, output: dataOutput },
  examples: [['srv debug connections', 'with their processes and containers']],
  run: (values, _given, more) => server().showConnections(values, more),
});

const runs = command({
  name: 'runs',
  summary: 'List the runs of all clients',
  page,
  inherits,
  options: { ...ofDaemon, output: dataOutput },
  examples: [['srv debug runs', 'with their connections']],
  run: (values, _given, more) => server().showRuns(values, more),
});

const streams = command({
  name: 'streams',
  summary: 'List the sessions of the tunnel and the number of their streams',
  page,
  inherits,
  options: { ...ofDaemon, output: dataOutput },
  examples: [['srv debug streams', 'with bytes and pauses']],
  run: (values, _given, more) => server().showStreams(values, more),
});

export const debugCommands: Group = {
  name: 'debug',
  summary: 'Debug the running daemon, for administrators of the host only',
  page,
  commands: [stacks, report, heap, cpu, trace, handles, logLevel, connections, runs, streams],
};
