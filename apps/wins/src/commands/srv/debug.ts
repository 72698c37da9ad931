import { command, type Group } from '../../command-line/command.js';
import { durationOption, reader, type Option } from '../../command-line/option.js';
import { server } from '../../load-applications.js';
import { dataOutput, textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

const page = 'observability.md';
const common = { page, inherits };

function secondsOption(byDefault: string): Option<number> {
  const read = reader('more than 0 and at most 60', (text) => {
    const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
    return seconds > 0 && seconds <= 60 ? seconds : undefined;
  });
  const describe = 'How long to record, up to 60 seconds';
  return { kind: 'text', placeholder: 'SECONDS', byDefault, describe, read };
}

const file = {
  name: 'file',
  describe: 'a new file, which only this user can read',
  completes: 'files',
} as const;

type Listing = 'showHandles' | 'showConnections' | 'showRuns' | 'showStreams';

const listing = (name: string, summary: string, example: string, show: Listing) =>
  command({
    ...common,
    name,
    summary,
    options: { ...ofDaemon, output: dataOutput },
    examples: [[`srv debug ${name}`, example]],
    handler: () => server()[show],
  });

const stacks = command({
  name: 'stacks',
  summary: 'Print the stacks of the daemon, and what it waits for',
  ...common,
  options: { ...ofDaemon, seconds: secondsOption('1'), output: textOutput },
  examples: [['srv debug stacks --seconds 5', 'what a busy daemon is doing']],
  handler: () => server().showStacks,
});

const report = command({
  name: 'report',
  summary: 'Print the diagnostic report of the runtime, without secrets',
  ...common,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv debug report', 'versions, memory, native stack, handles']],
  handler: () => server().showReport,
});

const heap = command({
  name: 'heap',
  summary: 'Write a heap snapshot of the daemon, secrets included, to a file',
  details:
    'The daemon pauses for about a second per 10 MB of its heap, and meanwhile needs up to ' +
    '16 times the memory of the heap. It refuses if the heap is above 64 MiB.',
  ...common,
  positional: file,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv debug heap wins.heapsnapshot', 'for the memory panel of Chrome']],
  handler: () => server().writeHeap,
});

const cpu = command({
  name: 'cpu',
  summary: 'Record a CPU profile of the daemon to a file',
  ...common,
  positional: file,
  options: { ...ofDaemon, seconds: secondsOption('10'), output: textOutput },
  examples: [['srv debug cpu --seconds 30 wins.cpuprofile', 'for Chrome or VS Code']],
  handler: () => server().writeCpu,
});

const trace = command({
  name: 'trace',
  summary: "Record a trace of the daemon's runtime to a file",
  ...common,
  positional: file,
  options: { ...ofDaemon, seconds: secondsOption('10'), output: textOutput },
  examples: [['srv debug trace wins-trace.json', 'for Perfetto']],
  handler: () => server().writeTrace,
});

const logLevel = command({
  name: 'log-level',
  summary: 'Print the log level of the daemon, or change it for some time',
  ...common,
  positional: {
    name: 'level',
    describe: 'debug, info, warn or error; default restores the level of the config',
    isOptional: true,
    choices: ['debug', 'info', 'warn', 'error', 'default'],
  },
  options: {
    ...ofDaemon,
    for: durationOption('10m', 'How long, such as 10m or 2h; then the level is restored', 1000),
    output: textOutput,
  },
  examples: [['srv debug log-level debug --for 5m', 'log each request for five minutes']],
  handler: () => server().changeLogLevel,
});

export const debugCommands: Group = {
  name: 'debug',
  summary: 'Debug the running daemon, for administrators of the host only',
  page,
  commands: [
    stacks,
    report,
    heap,
    cpu,
    trace,
    listing(
      'handles',
      'List the open handles of the daemon, by kind',
      'sockets, timers, files',
      'showHandles',
    ),
    logLevel,
    listing(
      'connections',
      'List the connections of the daemon',
      'with their processes and containers',
      'showConnections',
    ),
    listing('runs', 'List the runs of all clients', 'with their connections', 'showRuns'),
    listing(
      'streams',
      'List the sessions of the tunnel and the number of their streams',
      'with bytes and pauses',
      'showStreams',
    ),
  ],
};
