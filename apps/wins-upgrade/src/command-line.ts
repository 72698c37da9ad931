import path from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf, UpgradeError, type UpgradeWish } from '@wins/service-upgrade';
import { parseDurationMs } from './duration.js';
import { refusal, requireWordsOfRun } from './require-words-of-run.js';

/** What `wins up` was asked. */
export interface UpgradeCommand {
  readonly wish: UpgradeWish;
  /** The program that is offered, an absolute path; undefined for this one. */
  readonly path: string | undefined;
  readonly service: string | undefined;
  readonly waitMs: number | undefined;
  readonly dryRun: boolean;
  readonly debug: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
  /** Names this upgrade in its result; undefined for a new name. */
  readonly id: string | undefined;
  /** Whether this process has left the run in which it was asked for. */
  readonly apart: boolean;
  /** The run in which it was asked for, by its name; undefined for none. */
  readonly askedBy: string | undefined;
  /** Whether this process only removes the helper that started it. */
  readonly sweep: boolean;
  /** What to print instead of doing anything. */
  readonly show: 'help' | 'version' | 'result' | undefined;
}

const VALUES = [
  ...['wins-args', 'expect-config', 'path', 'sha256', 'service', 'wait', 'id', 'asked-by'],
] as const;
const SWITCHES = [
  'dry-run',
  'allow-downgrade',
  'json',
  'debug',
  'quiet',
  'apart',
  'sweep',
  'show-result',
] as const;

/** What helpers say to each other. */
const HIDDEN: ReadonlySet<string> = new Set(['apart', 'sweep', 'asked-by']);

/** What `wins up --help` says. */
export const USAGE = `wins up: replaces the program of the daemon's service, or leaves it as it was (alias: upgrade)

Usage: wins up [options]

Options:
  --path FILE          the new program; default: this one
  --sha256 DIGEST      refuse a program with another SHA-256
  --wins-args ARGS     arguments of the service, in place of those it has: "--config FILE"
  --expect-config FILE refuse unless this is the config that the service reads
  --allow-downgrade    take an older release as well
  --wait TIME          how long the service may take to end, and to serve: 60s, 5m; default 60s
  --service NAME       the service; default: that of the daemon
  --dry-run            say what would be done
  --show-result        say how the latest upgrade ended, and do nothing
  --id NAME            a name for this upgrade, which its result will have
  --json               print the result for programs
  --debug              log to standard error as well
  --quiet              say nothing but the exit code
  --help, -h           says this
  --version, -v        says which release this is

Ends with 0 when the wanted release serves, 1 when the old one serves again, 64 when the command line makes no
sense, 65 when the upgrade was refused, 70 when it failed, 75 when another upgrade is under way.
`;

/** The options, for the completion of a shell. */
export const COMPLETIONS = [...VALUES, ...SWITCHES, 'help']
  .filter((name) => !HIDDEN.has(name))
  .map((name) => `--${name}\n`)
  .join('');

/**
 * Reads the words after `wins`. As with the programs of Go, one dash is as good as two, and an option takes the next word
 * whatever that looks like.
 *
 * @param inRun - Whether a daemon has started this process, for a client.
 * @throws UpgradeError `usage`; in a run `refused`, for whatever may not be said there.
 */
export function parseCommandLine(argv: readonly string[], inRun = false): UpgradeCommand {
  const { values, positionals } = inRun ? parseInRun(argv) : parse(argv);
  const show = shown(values);
  const [command, ...rest] = positionals;
  const isTold = inRun && command === undefined && show !== undefined;
  if (!isTold && ((command !== 'up' && command !== 'upgrade') || rest.length > 0)) {
    throw usage(`found the words "${positionals.join(' ')}"; wanted up and options`);
  }
  const { path: program, service, wait, sha256 } = values;
  const { 'wins-args': winsArgs, 'expect-config': expectConfig, 'asked-by': askedBy } = values;
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw usage(`--sha256 is "${sha256}"; wanted 64 hexadecimal digits`);
  }
  if (values.id !== undefined && !/^[0-9A-Za-z-]{1,64}$/.test(values.id)) {
    throw usage(`--id is "${values.id}"; wanted up to 64 letters, digits and dashes`);
  }
  const waitMs = wait === undefined ? undefined : parseDurationMs(wait);
  if (wait !== undefined && waitMs === undefined) {
    throw usage(`--wait is "${wait}"; wanted a time up to an hour, for example 60s or 5m`);
  }
  return {
    wish: {
      allowDowngrade: values['allow-downgrade'] === true,
      ...(winsArgs !== undefined && { winsArgs }),
      ...(sha256 !== undefined && { sha256 }),
      ...(expectConfig !== undefined && { expectConfig: path.resolve(expectConfig) }),
    },
    path: program === undefined ? undefined : path.resolve(program),
    service,
    waitMs,
    dryRun: values['dry-run'] === true,
    debug: values.debug === true,
    quiet: values.quiet === true,
    json: values.json === true,
    id: values.id,
    apart: values.apart === true,
    askedBy,
    sweep: values.sweep === true,
    show,
  };
}

function parseInRun(argv: readonly string[]): ReturnType<typeof parse> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(argv);
  } catch (error) {
    throw refusal(`found what makes no sense (${messageOf(error)})`);
  }
  requireWordsOfRun({ commands: parsed.positionals, options: Object.keys(parsed.values) });
  return parsed;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: joinValues(argv),
      allowPositionals: true,
      options: {
        'wins-args': { type: 'string' },
        'expect-config': { type: 'string' },
        'asked-by': { type: 'string' },
        path: { type: 'string' },
        sha256: { type: 'string' },
        service: { type: 'string' },
        wait: { type: 'string' },
        id: { type: 'string' },
        'dry-run': { type: 'boolean' },
        'allow-downgrade': { type: 'boolean' },
        json: { type: 'boolean' },
        debug: { type: 'boolean' },
        quiet: { type: 'boolean' },
        apart: { type: 'boolean' },
        sweep: { type: 'boolean' },
        'show-result': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    });
  } catch (error) {
    throw usage(messageOf(error));
  }
}

function shown(values: {
  help?: boolean;
  version?: boolean;
  'show-result'?: boolean;
}): UpgradeCommand['show'] {
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  return values['show-result'] === true ? 'result' : undefined;
}

function joinValues(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [, name, value] = /^--?([a-z][a-z0-9-]+)(=[^]*)?$/.exec(word) ?? [];
    const next = argv[index + 1];
    if (name === undefined) joined.push(word);
    else if (value !== undefined) joined.push(`--${name}${value}`);
    else if (next === undefined || !(VALUES as readonly string[]).includes(name)) {
      joined.push(`--${name}`);
    } else {
      joined.push(`--${name}=${next}`);
      index += 1;
    }
  }
  return joined;
}

/** The words with which the same command is given to the helper that left the run. */
export function apartArguments(
  command: Pick<UpgradeCommand, 'wish'> &
    Partial<Pick<UpgradeCommand, 'path' | 'service' | 'waitMs' | 'id' | 'askedBy'>>,
): string[] {
  const { wish, path: program, service, waitMs, id, askedBy } = command;
  const value = (name: string, text: string | undefined) =>
    text === undefined ? [] : [`--${name}=${text}`];
  return [
    'up',
    '--apart',
    ...value('wins-args', wish.winsArgs),
    ...value('path', program),
    ...value('sha256', wish.sha256),
    ...value('service', service),
    ...value('id', id),
    ...value('asked-by', askedBy),
    ...value('expect-config', wish.expectConfig),
    ...value('wait', waitMs === undefined ? undefined : `${waitMs}ms`),
    ...(wish.allowDowngrade ? ['--allow-downgrade'] : []),
  ];
}

function usage(found: string): UpgradeError {
  return new UpgradeError('usage', `the command line makes no sense: ${found} (--help says more)`);
}
