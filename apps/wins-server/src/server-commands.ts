import { defaultConfigPath } from '@wins/config';
import { VERSION } from '@wins/wins-program';
// Not from 'yargs': that entry builds a parser of its own when it is loaded.
import yargs from 'yargs/yargs';
import { parseLogFileCount, parseLogFileSize } from './log/log-file-options.js';
import { UsageError } from './usage-error.js';

const CONFIG_HELP = `The config file; it must exist. Default: ${defaultConfigPath()}, which may be absent`;

type Handler<T> = (options: T) => Promise<number>;

/**
 * The command line of `wins srv` and `wins doctor`.
 *
 * @param argv - Words after `wins`.
 * @param done - Gets the exit code of the command that ran.
 */
export function serverCommands(argv: readonly string[], done: (exitCode: number) => void) {
  const handle =
    <T>(load: () => Promise<Handler<T>>) =>
    async (options: T): Promise<void> =>
      done(await (await load())(options));

  const parser = yargs([...argv]);
  return parser
    .scriptName('wins')
    .version(`rancher-wins version ${VERSION}`)
    .alias('version', 'v')
    .help()
    .alias('help', 'h')
    .wrap(Math.min(100, parser.terminalWidth()))
    .parserConfiguration({
      'parse-numbers': false,
      'camel-case-expansion': false,
      'duplicate-arguments-array': false,
      'dot-notation': false,
    })
    .option('debug', { type: 'boolean', default: false, describe: 'Log more' })
    .option('quiet', { type: 'boolean', default: false, describe: 'Log nothing' })
    .command(['srv', 'server'], 'The daemon', (srv) =>
      srv
        .option('config', {
          type: 'string',
          describe: CONFIG_HELP,
        })
        .command(['app', 'application'], 'Run the daemon', (app) =>
          app
            .command(
              'run',
              'Serve until stopped',
              (run) =>
                run
                  .option('register', {
                    type: 'boolean',
                    default: false,
                    describe:
                      'Register it as a Windows service with the other options, or update that service',
                  })
                  .option('unregister', {
                    type: 'boolean',
                    default: false,
                    describe: 'Stop and remove the Windows service',
                  })
                  // Ignored without --register: a service of an earlier release may be started with any of them.
                  .option('delayed-start', {
                    type: 'boolean',
                    describe: 'With --register: start some time after the system',
                  })
                  .option('depends-on', {
                    type: 'string',
                    describe:
                      'With --register: services that must run before it, as in "HNS Tcpip"',
                  })
                  .option('log-file-size', {
                    type: 'string',
                    coerce: parseLogFileSize,
                    describe:
                      'How large a log file of the Windows service may become: 64KiB to 1GiB; default: 10MiB',
                  })
                  .option('log-files', {
                    type: 'string',
                    coerce: parseLogFileCount,
                    describe: 'How many log files it keeps: 1 to 100; default: 5',
                  })
                  .option('profile', { type: 'string', hidden: true })
                  .option('profile-output', { type: 'string', hidden: true })
                  .check(({ register, unregister }) => {
                    if (register && unregister)
                      throw new UsageError('--register and --unregister exclude each other');
                    return true;
                  }),
              handle(async () => (await import('./commands/app-run.js')).runApp),
            )
            .demandCommand(1, 1, 'a command is missing: run'),
        )
        .command('config', 'Look at the config file', (config) =>
          config
            .command(
              'check',
              'Say what is wrong with the config file, or show the values in force',
              (check) =>
                check
                  .option('output', {
                    alias: 'o',
                    choices: ['text', 'json'] as const,
                    default: 'text' as const,
                    describe: 'text for people, json for programs',
                  })
                  .option('lenient', {
                    type: 'boolean',
                    default: false,
                    describe: 'Only warn of an unknown key, as the daemon does when it starts',
                  })
                  .option('content-only', {
                    type: 'boolean',
                    default: false,
                    describe:
                      'For a file that will be copied to its place: it must exist; who could change it is not judged on Windows',
                  })
                  .option('platform', {
                    choices: ['windows', 'linux'] as const,
                    describe: 'The system of the node that the config is for; default: this one',
                  })
                  .option('explain-migration', {
                    type: 'boolean',
                    default: false,
                    describe:
                      'Print, as YAML to paste, what a config of an earlier release may lack',
                  }),
              handle(async () => (await import('./commands/config-check.js')).checkConfig),
            )
            .command(
              'schema',
              'Print a JSON Schema of the config file, for editors',
              (schema) => schema,
              handle(async () => (await import('./commands/config-schema.js')).printSchema),
            )
            .command(
              'explain [key]',
              'Say what a key means, or whether a program or port would be allowed',
              (explain) =>
                explain
                  .positional('key', {
                    type: 'string',
                    describe: 'A key, such as white_list.proxyPorts; without one all are listed',
                  })
                  .option('path', {
                    type: 'string',
                    describe: 'A program of the host: would it be allowed, and by which entry',
                  })
                  .option('sha256', {
                    type: 'string',
                    describe: 'With --path: the SHA-256 digest that the client sees',
                  })
                  .option('port', {
                    type: 'number',
                    describe: 'A TCP port of the host: would it be allowed',
                  })
                  .option('server', {
                    type: 'string',
                    describe: 'Ask the running daemon on this pipe, rather than the file',
                  })
                  .option('output', {
                    alias: 'o',
                    choices: ['text', 'json'] as const,
                    default: 'text' as const,
                    describe: 'text for people, json for programs',
                  }),
              handle(async () => (await import('./commands/config-explain.js')).explainConfig),
            )
            .command(
              'reload',
              'Have the running daemon read its config again',
              (reload) =>
                reload
                  .option('server', {
                    type: 'string',
                    describe: "Name or path of the daemon's pipe; default: that of the config",
                  })
                  .option('output', {
                    alias: 'o',
                    choices: ['text', 'json'] as const,
                    default: 'text' as const,
                    describe: 'text for people, json for programs',
                  }),
              handle(async () => (await import('./commands/config-reload.js')).reloadConfig),
            )
            .demandCommand(1, 1, 'a command is missing: check, schema, explain or reload'),
        )
        .command('audit', 'Look at the audit log', (audit) =>
          audit
            .option('directory', {
              type: 'string',
              describe: 'The folder of a log; default: the one of the daemon of the config',
            })
            .command(
              'show',
              'Print the records, the oldest first',
              (show) =>
                show
                  .option('since', {
                    type: 'string',
                    describe: 'Only records since then: 90s, 2h30m, 7d or 2026-03-01T12:00Z',
                  })
                  .option('output', {
                    alias: 'o',
                    choices: ['table', 'json'] as const,
                    default: 'table' as const,
                    describe: 'table for people, json for programs: one object per line',
                  }),
              handle(async () => (await import('./commands/audit-show.js')).showAudit),
            )
            .command(
              'verify',
              'Check that the log is complete and unchanged',
              (verify) =>
                verify.option('output', {
                  alias: 'o',
                  choices: ['text', 'json'] as const,
                  default: 'text' as const,
                  describe: 'text for people, json for programs',
                }),
              handle(async () => (await import('./commands/audit-verify.js')).verifyAudit),
            )
            .demandCommand(1, 1, 'a command is missing: show or verify'),
        )
        .demandCommand(1, 1, 'a command is missing: app, audit or config'),
    )
    .command(
      'doctor',
      'Examine this host and the daemon on it; change nothing',
      (doctor) =>
        doctor
          .option('config', {
            type: 'string',
            describe: CONFIG_HELP,
          })
          .option('json', { type: 'boolean', default: false, describe: 'Print for programs' }),
      handle(async () => (await import('./commands/doctor.js')).runDoctor),
    )
    .strict()
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new UsageError(`${message ?? 'invalid command line'} (--help says more)`);
    });
}
