import { withoutQuotes, type UpgradeRequest } from '@wins/service-upgrade';
import { quoteText, UsageError } from '@wins/base';
import path from 'node:path';
import type { UpgradeSettings } from './compose.js';
import { isForPeople } from './console.js';

type Flag = 'allow-downgrade' | 'dry-run' | 'show-result' | 'debug' | 'quiet' | 'apart' | 'sweep';
type Text = 'path' | 'sha256' | 'wins-args' | 'expect-config' | 'service' | 'id' | 'output';

/** `wait` is in ms. A `known-version` is SHA-256=VERSION. `apart`: this process has left the run that requested the upgrade. */
export type UpgradeOptions = Readonly<
  Record<Flag, boolean> &
    Record<'allow-drop' | 'known-version', readonly string[]> &
    Partial<Record<Text | 'asked-by', string | undefined>> &
    Partial<Record<'wait' | 'attempt', number | undefined>>
>;

export interface HelperCommand extends Pick<
  UpgradeSettings,
  'service' | 'waitMs' | 'id' | 'askedBy' | 'attempt' | 'knownVersions'
> {
  readonly request: UpgradeRequest;
  /** Absolute path of the offered program; undefined for this program. */
  readonly path?: string | undefined;
}

export interface UpgradeCommand
  extends HelperCommand, Pick<UpgradeOptions, 'apart' | 'debug' | 'quiet'> {
  readonly dryRun: boolean;
  readonly isTicked: boolean;
}

/** @throws UsageError */
export function commandOf(options: UpgradeOptions): UpgradeCommand {
  const { 'wins-args': winsArgs, sha256, 'expect-config': config, path: program } = options;
  const { service, id, attempt, apart, debug, quiet } = options;
  const isTicked = !apart && !debug && !quiet && isForPeople(options);
  return {
    request: {
      allowDowngrade: options['allow-downgrade'],
      allowDrop: options['allow-drop'],
      ...(winsArgs !== undefined && { winsArgs }),
      ...(sha256 !== undefined && { sha256 }),
      ...(config !== undefined && { expectConfig: path.resolve(withoutQuotes(config)) }),
    },
    path: program === undefined ? undefined : path.resolve(withoutQuotes(program)),
    service,
    id,
    attempt,
    apart,
    debug,
    quiet,
    isTicked,
    waitMs: options.wait,
    dryRun: options['dry-run'],
    askedBy: options['asked-by'],
    knownVersions: new Map(options['known-version'].map(readKnownVersion)),
  };
}

function readKnownVersion(pair: string): [string, string] {
  const [, digest, version] = /^([0-9a-f]{64})=([\x21-\x7e]{1,100})$/.exec(pair) ?? [];
  if (digest !== undefined && version !== undefined) return [digest, version];
  throw new UsageError(`--known-version: found ${quoteText(pair)}; wanted DIGEST=VERSION`);
}

export function helperArguments(command: HelperCommand): string[] {
  const { request, waitMs, knownVersions } = command;
  const values: Readonly<Partial<Record<keyof UpgradeOptions, string | number | undefined>>> = {
    'wins-args': request.winsArgs,
    path: command.path,
    sha256: request.sha256,
    service: command.service,
    id: command.id,
    'asked-by': command.askedBy,
    attempt: command.attempt,
    'expect-config': request.expectConfig,
    wait: waitMs === undefined ? undefined : `${waitMs}ms`,
  };
  return [
    'up',
    '--apart',
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    ),
    ...[...(knownVersions ?? [])].map((known) => `--known-version=${known.join('=')}`),
    ...(request.allowDrop ?? []).map((key) => `--allow-drop=${key}`),
    ...(request.allowDowngrade ? ['--allow-downgrade'] : []),
  ];
}
