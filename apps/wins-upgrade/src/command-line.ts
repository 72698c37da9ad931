import path from 'node:path';
import { parseArgs } from 'node:util';
import { UpgradeError, type UpgradeWish } from '@wins/service-upgrade';
import { messageOf, parseDuration } from '@wins/wins-program';
import { OPTION_LIST, OPTIONS, type OptionName } from './options.js';
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
  /** See {@link UpgradeContext}; undefined when it was asked for. */
  readonly attempt: number | undefined;
  /** See {@link UpgradeContext}. */
  readonly knownVersions: ReadonlyMap<string, string>;
  /** Whether this process only removes the helper that started it. */
  readonly sweep: boolean;
  /** What to print instead of doing anything. */
  readonly show: 'help' | 'version' | 'result' | undefined;
}

/** What a process that leaves its run is told. */
export type HelperCommand = Pick<UpgradeCommand, 'wish'> &
  Partial<
    Pick<
      UpgradeCommand,
      'path' | 'service' | 'waitMs' | 'id' | 'askedBy' | 'attempt' | 'knownVersions'
    >
  >;

const DIGEST = '[0-9a-f]{64}';
const WAIT = { minMs: 1, maxMs: 3_600_000 };

/**
 * Reads the words after `wins`. As with the programs of Go, one dash is as good as two, and an option takes the next word
 * whatever that looks like.
 *
 * @param inRun - Whether a daemon has started this process, for a client.
 * @throws UpgradeError `usage`; in a run `refused`, for whatever may not be said there.
 */
export function parseCommandLine(argv: readonly string[], inRun = false): UpgradeCommand {
  const { values, positionals } = inRun ? parseInRun(argv) : parse(argv);
  const text = (name: OptionName, pattern = '[^]*', wanted = ''): string | undefined => {
    const value = values[name];
    if (typeof value !== 'string') return undefined;
    if (new RegExp(`^(?:${pattern})$`, 'i').test(value)) return value;
    throw usage(`--${name} is "${value}"; wanted ${wanted}`);
  };
  const has = (name: OptionName): boolean => values[name] === true;
  const file = (name: OptionName): string | undefined => {
    const value = text(name);
    return value === undefined ? undefined : path.resolve(value);
  };

  const show = has('help')
    ? 'help'
    : has('version')
      ? 'version'
      : has('show-result')
        ? 'result'
        : undefined;
  const [command, ...rest] = positionals;
  const isTold = inRun && command === undefined && show !== undefined;
  if (!isTold && ((command !== 'up' && command !== 'upgrade') || rest.length > 0)) {
    throw usage(`found the words "${positionals.join(' ')}"; wanted up and options`);
  }
  const [winsArgs, expectConfig] = [text('wins-args'), file('expect-config')];
  const sha256 = text('sha256', DIGEST, '64 hexadecimal digits');
  const attempt = text('attempt', '\\d{1,3}', 'a number');
  return {
    wish: {
      allowDowngrade: has('allow-downgrade'),
      ...(winsArgs !== undefined && { winsArgs }),
      ...(sha256 !== undefined && { sha256 }),
      ...(expectConfig !== undefined && { expectConfig }),
    },
    path: file('path'),
    service: text('service'),
    waitMs: waitMs(text('wait')),
    dryRun: has('dry-run'),
    debug: has('debug'),
    quiet: has('quiet'),
    json: has('json'),
    id: text('id', '[0-9A-Za-z-]{1,64}', 'up to 64 letters, digits and dashes'),
    apart: has('apart'),
    askedBy: text('asked-by'),
    attempt: attempt === undefined ? undefined : Number(attempt),
    knownVersions: knownVersions(values['known-version']),
    sweep: has('sweep'),
    show,
  };
}

function waitMs(text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : parseDuration(text, WAIT);
  } catch (error) {
    throw usage(`--wait: ${messageOf(error)}`);
  }
}

function knownVersions(pairs: unknown): Map<string, string> {
  const texts: unknown[] = Array.isArray(pairs) ? pairs : [];
  return new Map(
    texts.map((pair) => {
      const [, digest, version] =
        new RegExp(`^(${DIGEST})=([\\x21-\\x7e]{1,100})$`).exec(String(pair)) ?? [];
      if (digest !== undefined && version !== undefined) return [digest, version];
      throw usage(`--known-version is "${String(pair)}"; wanted DIGEST=VERSION`);
    }),
  );
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

function parse(argv: readonly string[]): {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
} {
  const options = OPTION_LIST.map(([name, { value, short, isList = false }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, { type, multiple: isList, ...(short !== undefined && { short }) }] as const;
  });
  try {
    return parseArgs({
      args: joinValues(argv),
      allowPositionals: true,
      options: Object.fromEntries(options),
    });
  } catch (error) {
    throw usage(messageOf(error));
  }
}

function joinValues(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [, name, value] = /^--?([a-z][a-z0-9-]+)(=[^]*)?$/.exec(word) ?? [];
    const next = argv[index + 1];
    if (name === undefined) joined.push(word);
    else if (value !== undefined) joined.push(`--${name}${value}`);
    else if (next === undefined || !takesValue(name)) joined.push(`--${name}`);
    else {
      joined.push(`--${name}=${next}`);
      index += 1;
    }
  }
  return joined;
}

function takesValue(name: string): boolean {
  return Object.hasOwn(OPTIONS, name) && 'value' in OPTIONS[name as OptionName];
}

/** The words with which the same command is given to the helper that left the run. */
export function apartArguments(command: HelperCommand): string[] {
  const { wish, path: program, service, waitMs, id, askedBy, attempt, knownVersions } = command;
  const value = (name: OptionName, text: string | number | undefined) =>
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
    ...value('attempt', attempt),
    ...value('expect-config', wish.expectConfig),
    ...value('wait', waitMs === undefined ? undefined : `${waitMs}ms`),
    ...[...(knownVersions ?? [])].flatMap((known) => value('known-version', known.join('='))),
    ...(wish.allowDowngrade ? ['--allow-downgrade'] : []),
  ];
}

function usage(found: string): UpgradeError {
  return new UpgradeError('usage', `the command line makes no sense: ${found} (--help says more)`);
}
