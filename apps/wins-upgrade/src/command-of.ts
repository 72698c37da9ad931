import type { UpgradeWish } from '@wins/service-upgrade';
import { quoteText, UsageError } from '@wins/wins-program';
import path from 'node:path';

/** The options of `wins up`, as they are read from a command line. */
export interface UpgradeOptions {
  /** The new program. Default: this one. */
  readonly path?: string | undefined;
  readonly sha256?: string | undefined;
  readonly 'wins-args'?: string | undefined;
  readonly 'expect-config'?: string | undefined;
  readonly 'allow-downgrade': boolean;
  readonly 'allow-drop': readonly string[];
  /** Milliseconds. */
  readonly wait?: number | undefined;
  readonly service?: string | undefined;
  readonly 'dry-run': boolean;
  readonly 'show-result': boolean;
  readonly id?: string | undefined;
  readonly output?: string | undefined;
  readonly debug: boolean;
  readonly quiet: boolean;
  readonly apart: boolean;
  readonly sweep: boolean;
  readonly 'asked-by'?: string | undefined;
  readonly attempt?: number | undefined;
  /** Each a SHA-256 digest, `=` and a version. */
  readonly 'known-version': readonly string[];
}

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
  /** Names this upgrade in its result; undefined for a new name. */
  readonly id: string | undefined;
  /** Whether this process has left the run in which it was asked for. */
  readonly apart: boolean;
  /** The run in which it was asked for, by its name; undefined for none. */
  readonly askedBy: string | undefined;
  /** See `UpgradeContext`; undefined when it was asked for. */
  readonly attempt: number | undefined;
  /** See `UpgradeContext`. */
  readonly knownVersions: ReadonlyMap<string, string>;
}

/** What a process that leaves its run is told. */
export type HelperCommand = Pick<UpgradeCommand, 'wish'> &
  Partial<
    Pick<
      UpgradeCommand,
      'path' | 'service' | 'waitMs' | 'id' | 'askedBy' | 'attempt' | 'knownVersions'
    >
  >;

/**
 * What the options ask for.
 *
 * @throws UsageError
 */
export function commandOf(options: UpgradeOptions): UpgradeCommand {
  const { 'wins-args': winsArgs, sha256, 'expect-config': config, path: program } = options;
  return {
    wish: {
      allowDowngrade: options['allow-downgrade'],
      allowDrop: options['allow-drop'],
      ...(winsArgs !== undefined && { winsArgs }),
      ...(sha256 !== undefined && { sha256 }),
      ...(config !== undefined && { expectConfig: path.resolve(config) }),
    },
    path: program === undefined ? undefined : path.resolve(program),
    service: options.service,
    waitMs: options.wait,
    dryRun: options['dry-run'],
    debug: options.debug,
    quiet: options.quiet,
    id: options.id,
    apart: options.apart,
    askedBy: options['asked-by'],
    attempt: options.attempt,
    knownVersions: new Map(options['known-version'].map(readKnownVersion)),
  };
}

function readKnownVersion(pair: string): [string, string] {
  const [, digest, version] = /^([0-9a-f]{64})=([\x21-\x7e]{1,100})$/.exec(pair) ?? [];
  if (digest !== undefined && version !== undefined) return [digest, version];
  throw new UsageError(`--known-version: found ${quoteText(pair)}; wanted DIGEST=VERSION`);
}

/** The words with which the same command is given to the helper that left the run. */
export function apartArguments(command: HelperCommand): string[] {
  const { wish, path: program, service, waitMs, id, askedBy, attempt, knownVersions } = command;
  const value = (name: keyof UpgradeOptions, text: string | number | undefined) =>
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
    ...(wish.allowDrop ?? []).flatMap((key) => value('allow-drop', key)),
    ...(wish.allowDowngrade ? ['--allow-downgrade'] : []),
  ];
}
