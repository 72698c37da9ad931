/** An option of `wins up`. */
export interface Option {
  /** What its value is; absent for a switch. */
  readonly value?: string;
  /** Absent for what helpers say to each other. */
  readonly help?: string;
  readonly short?: string;
  /** Whether it may be given more than once. */
  readonly isList?: true;
  /**
   * How a run of a daemon may use it, where the words are those of whoever has the pipe: `true` for what decides nothing but
   * what is printed, and whether the upgrade is refused; else what to do instead. Default: not at all.
   */
  readonly inRun?: true | string;
}

/** The options of `wins up`. */
export const OPTIONS = {
  path: {
    ...{ value: 'FILE', help: 'the new program; default: this one' },
    inRun: 'what is offered is the program that the daemon runs',
  },
  sha256: { value: 'DIGEST', help: 'refuse a program with another SHA-256', inRun: true },
  'wins-args': {
    ...{
      value: 'ARGS',
      help: 'arguments of the service, in place of those it has: "--config FILE"',
    },
    inRun:
      'the service stays registered as it is: bring the config to the path that it is registered with (wins cli deliver), or change the registration on the host itself (wins-upgrade up --wins-args)',
  },
  'expect-config': {
    ...{ value: 'FILE', help: 'refuse unless this is the config that the service reads' },
    inRun: true,
  },
  'allow-downgrade': {
    help: 'take an older release as well',
    inRun: 'an older release is taken on the host itself only',
  },
  wait: {
    value: 'TIME',
    help: 'how long the service may take to end, and to serve: 60s, 5m, 1h; default 60s',
  },
  service: {
    ...{ value: 'NAME', help: 'the service; default: that of the daemon' },
    inRun: 'what is upgraded is the service of the daemon that runs this',
  },
  'dry-run': { help: 'say what would be done', inRun: true },
  'show-result': { help: 'say how the latest upgrade ended, and do nothing', inRun: true },
  id: { value: 'NAME', help: 'a name for this upgrade, which its result will have', inRun: true },
  json: { help: 'print the result for programs', inRun: true },
  debug: { help: 'log to standard error as well' },
  quiet: {
    help: 'say nothing but the exit code',
    inRun: 'a client cannot silence what an upgrade prints',
  },
  help: { short: 'h', help: 'says this', inRun: true },
  version: { short: 'v', help: 'says which release this is', inRun: true },
  apart: {},
  sweep: {},
  'asked-by': { value: 'RUN' },
  attempt: { value: 'NUMBER' },
  'known-version': { value: 'DIGEST=VERSION', isList: true },
} as const satisfies Readonly<Record<string, Option>>;

/** The name of an option. */
export type OptionName = keyof typeof OPTIONS;

/** All options, by name. */
export const OPTION_LIST: readonly (readonly [string, Option])[] = Object.entries(OPTIONS);

const HELP = OPTION_LIST.flatMap(([name, { value, help, short }]) => {
  if (help === undefined) return [];
  const words = [`--${name}`, ...(value === undefined ? [] : [value])].join(' ');
  return [`  ${`${words}${short === undefined ? '' : `, -${short}`}`.padEnd(21)}${help}\n`];
}).join('');

/** What `wins up --help` says. */
export const USAGE = `wins up: replaces the program of the daemon's service, or leaves it as it was (alias: upgrade)

Usage: wins up [options]

Options:
${HELP}
Ends with 0 when the wanted release serves, 1 when the old one serves again, 64 when the command line makes no
sense, 65 when the upgrade was refused, 70 when it failed, 75 when another upgrade is under way.
`;

/** The options, for the completion of a shell. */
export const COMPLETIONS = OPTION_LIST.filter(
  ([name, { help }]) => help !== undefined && name !== 'version',
)
  .map(([name]) => `--${name}\n`)
  .join('');
