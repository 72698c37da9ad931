import { DEFAULT_PROXY_PIPE_NAME, EXIT, VERSION } from '@wins/wins-program';
// Not from 'yargs': that entry builds a parser of its own when it is loaded.
import yargs from 'yargs/yargs';
import { loadTunnelClient } from './tunnel/load-tunnel-client.js';
import { LOG_FORMATS } from './client-log.js';
import { CommandError } from './command-error.js';
import {
  durationOption,
  withDaemonOptions,
  withOutputOption,
  withSha256,
  withTimeout,
  withWaitTimeout,
  type Handle,
} from './options/command-options.js';
import { withHostCommands } from './options/host-command-line.js';

/**
 * The commands of `wins cli` and their options.
 *
 * @param argv - Words after `wins`, in the style of GNU: `--name=value`.
 * @param done - Told the exit code of the command that ran.
 */
export function clientCommands(argv: readonly string[], done: (exitCode: number) => void) {
  // Commands load what they need when they run: a command line that only asks for help loads nothing.
  const handle: Handle = (load) => async (options) => done(await (await load())(options));

  const parser = yargs([...argv]);
  return parser
    .scriptName('wins')
    .version(`rancher-wins version ${VERSION}`)
    .alias('version', 'v')
    .help()
    .alias('help', 'h')
    .wrap(Math.min(100, parser.terminalWidth()))
    .parserConfiguration({
      'populate--': true,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'camel-case-expansion': false,
      'duplicate-arguments-array': false,
      'dot-notation': false,
    })
    .option('debug', { type: 'boolean', default: false, describe: 'Log more' })
    .option('quiet', { type: 'boolean', default: false, describe: 'Log nothing' })
    .command(['cli', 'client'], 'Talk to the daemon', (cli) =>
      withHostCommands(cli, handle)
        .command(['app', 'application'], 'About the daemon', (app) =>
          app
            .command(
              'info',
              'Print the versions of the client and the daemon',
              (info) => withOutputOption(withDaemonOptions(info)),
              handle(async () => (await import('./commands/app-info.js')).showInfo),
            )
            .demandCommand(1, 1, 'a command is missing: info'),
        )
        .command(['prc', 'process'], 'Processes on the host', (prc) =>
          prc
            .command(
              'run',
              'Run a program of the host and follow it to its end',
              (run) =>
                withDaemonOptions(run)
                  .option('path', {
                    type: 'string',
                    demandOption: true,
                    describe: 'Absolute path of the program, the same here and on the host',
                  })
                  .option('args', {
                    type: 'string',
                    describe: 'Arguments, split at blanks outside quotes; -- passes words exactly',
                  })
                  .option('exposes', {
                    type: 'string',
                    describe: 'Ports that the program serves: "TCP:80-81 UDP:53"',
                  })
                  .option('envs', {
                    type: 'string',
                    describe: 'Environment to add: "NAME=value OTHER=value"',
                  })
                  .option('dir', {
                    type: 'string',
                    describe: "Working directory; default: the program's own",
                  })
                  .usage('wins cli prc run --path PROGRAM [options] [-- ARGUMENT…]'),
              handle(async () => (await import('./commands/process-run.js')).runProcess),
            )
            .command(
              'ls',
              'List the processes that the daemon runs',
              (ls) => withOutputOption(withDaemonOptions(ls)),
              handle(async () => (await import('./commands/process-ls.js')).listProcesses),
            )
            .command(
              'stop <name>',
              'Stop a process and everything it started',
              (stop) =>
                withOutputOption(
                  withDaemonOptions(stop).positional('name', {
                    type: 'string',
                    demandOption: true,
                    describe: 'Name as prc ls prints it',
                  }),
                ),
              handle(async () => (await import('./commands/process-stop.js')).stopProcess),
            )
            .demandCommand(1, 1, 'a command is missing: run, ls or stop'),
        )
        .command(
          'proxy',
          'Make ports of the host reachable in this container',
          (proxy) =>
            withTimeout(
              withWaitTimeout(proxy),
              'an attempt to open the tunnel may take (default 10s)',
            )
              .option('publish', {
                type: 'string',
                demandOption: 'which ports? name them with --publish "TCP:443 TCP:80-81"',
                describe:
                  'Ports to listen on, which lead to the same ports of the host: "TCP:443 TCP:80-81"; ' +
                  'TCP:8080:9796 leads to host port 9796',
              })
              .option('proxy', {
                type: 'string',
                default: DEFAULT_PROXY_PIPE_NAME,
                describe: "Name or path of the daemon's tunnel pipe",
              })
              .option('listen-address', {
                type: 'string',
                describe: 'Address to listen on; default: all of this container',
              })
              .option('ready-file', {
                type: 'string',
                describe: 'A file that exists exactly while the tunnel is up',
              })
              .option('log-format', {
                choices: LOG_FORMATS,
                default: 'pretty' as const,
                describe:
                  'pretty for people, json for programs: one object per line, with its time',
              }),
          handle(() => Promise.resolve(loadTunnelClient().proxyPorts)),
        )
        .command(
          'explain',
          'Say whether the daemon would allow a program or a port, and why not',
          (explain) =>
            withSha256(
              withOutputOption(withDaemonOptions(explain)),
              'With --path: the SHA-256 digest that this client sees',
            )
              .option('path', { type: 'string', describe: 'A program of the host' })
              .option('port', { type: 'number', describe: 'A TCP port of the host' }),
          handle(async () => (await import('./commands/explain.js')).explain),
        )
        .command(
          'upgrade',
          'Upgrade the daemon to another release',
          (upgrade) =>
            withDaemonOptions(upgrade, '5m')
              .option('path', {
                type: 'string',
                demandOption: true,
                describe: 'The new release, wins-upgrade, the same here and on the host',
              })
              .option('from', {
                type: 'string',
                describe: 'Where to copy it from when it is not at --path',
              })
              .option('once', {
                type: 'string',
                describe: 'A name for this upgrade: one that was rolled back is not tried again',
                coerce: (name: string) => {
                  if (/^[0-9A-Za-z-]{1,48}$/.test(name)) return name;
                  throw new CommandError(
                    `--once: "${name}" is not a name; wanted up to 48 letters, digits and dashes`,
                  );
                },
              })
              .option('config', {
                type: 'string',
                describe: 'The config that the service must read',
              }),
          handle(async () => (await import('./commands/upgrade.js')).upgradeDaemon),
        )
        .command(
          'deliver',
          'Copy a file of this container to a folder of the host that is mounted here',
          (deliver) =>
            withSha256(
              withWaitTimeout(deliver, '1m', 'another program that has the file open on the host'),
              'The SHA-256 digest that the file must have',
            )
              .option('from', { type: 'string', demandOption: true, describe: 'The file here' })
              .option('to', {
                type: 'string',
                demandOption: true,
                describe: 'Its path on the host; the folder must exist',
              })
              .option(
                'settle',
                durationOption(
                  'settle',
                  '0s',
                  'How long to wait after a change, until the daemon has seen it: 5s for its config',
                ),
              ),
          handle(async () => (await import('./commands/deliver.js')).deliver),
        )
        .demandCommand(
          1,
          1,
          'a command is missing: app, prc, proxy, explain, upgrade, deliver, hst, net, hns or route',
        ),
    )
    .strict()
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw (
        error ??
        new CommandError(
          `${message?.replaceAll('\n', ': ') ?? 'invalid command line'} (--help says more)`,
          EXIT.client.failed,
        )
      );
    });
}
