import { messageOf } from '@wins/base';
import { readText, type Effects } from '../run/effects.js';
import type { UpgradeContext } from '../run/upgrade-context.js';
import { hasFields, isText, maybe } from './has-fields.js';
import type { ProgramIdentity, UpgradeRecord } from './upgrade-journal.js';
import { recordPath, type UpgradePlaces } from './upgrade-places.js';

/**
 * How an upgrade ended.
 *
 * - `upgraded`: the new release is in place and serves.
 * - `nothing`: it was so already.
 * - `refused`: nothing was touched.
 * - `rolledBack`: it failed, and all is as it was before.
 * - `failed`: it failed, and it is not known that a daemon serves.
 */
export type UpgradeOutcome = 'upgraded' | 'nothing' | 'refused' | 'rolledBack' | 'failed';

/** The result file: what the latest upgrade came to. */
export interface UpgradeResult extends Pick<UpgradeRecord, 'id' | 'askedBy' | 'attempt'> {
  readonly outcome: UpgradeOutcome;
  /** Why, in words; what state the node is in, unless it is the wanted one. */
  readonly reason: string;
  readonly from?: Omit<ProgramIdentity, 'sha1'> | undefined;
  readonly to?: Omit<ProgramIdentity, 'sha1'> | undefined;
  readonly target?: string;
  readonly log?: string;
  /** The words of the service after its program; `before` is absent when there was none. */
  readonly serviceArgs?: {
    readonly before: readonly string[] | undefined;
    readonly after: readonly string[];
  };
  /** Doubts of the new program about the config, one in each line; absent when it has none. */
  readonly configWarnings?: string | undefined;
  /** Whether it was undone because it was interrupted, and not because of what it found. */
  readonly interrupted?: true | undefined;
}

const LIMIT_BYTES = 1024 * 1024;
const isResult = hasFields<UpgradeResult>({
  ...{ id: isText, reason: isText, to: maybe(hasFields({ sha256: isText })) },
  outcome: (value) =>
    ['upgraded', 'nothing', 'refused', 'rolledBack', 'failed'].some((outcome) => outcome === value),
});

/** Writes the result file, durably. */
export async function writeResult(
  effects: Effects,
  places: UpgradePlaces,
  result: UpgradeResult,
): Promise<void> {
  await effects.write(places.result, `${JSON.stringify(dated(result), null, 2)}\n`);
}

/**
 * Leaves a record of an upgrade that touched the service, which the next daemon, or the one that serves, takes into its audit log.
 * Unlike the result it is not replaced by what comes after it. The upgrade has happened: where it cannot be written, the log of
 * upgrades says so.
 */
export async function recordResult(
  { effects, log }: Pick<UpgradeContext, 'effects' | 'log'>,
  places: UpgradePlaces,
  result: UpgradeResult,
): Promise<void> {
  const file = recordPath(places, result.id, result.to?.sha256 ?? '');
  await effects.write(file, `${JSON.stringify(dated(result))}\n`).catch((error: unknown) => {
    log.write('no record for the audit log', { found: messageOf(error) });
  });
}

function dated(result: UpgradeResult) {
  return { format: 1, at: new Date().toISOString(), ...result };
}

/** Reads the result file; undefined when there is none, or it is none of ours. */
export async function latestResult(places: UpgradePlaces): Promise<UpgradeResult | undefined> {
  const text = await readResult(places);
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isResult(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the text of the result file; undefined when there is none. */
export function readResult(places: UpgradePlaces): Promise<string | undefined> {
  return readText(places.result, LIMIT_BYTES);
}
