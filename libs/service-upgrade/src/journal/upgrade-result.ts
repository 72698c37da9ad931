import { messageOf } from '@wins/base';
import { readText, type Effects } from '../effects.js';
import { hasFields, isText, maybe } from './has-fields.js';
import type { UpgradeLog } from './upgrade-log.js';
import type { ProgramIdentity, UpgradeRecord } from './upgrade-journal.js';
import { recordPath, type UpgradePaths } from './upgrade-paths.js';

/**
 * `refused`: nothing was changed. `rolledBack`: the previous state is restored. `failed`: possibly no daemon serves.
 */
export type UpgradeOutcome = 'upgraded' | 'nothing' | 'refused' | 'rolledBack' | 'failed';

/** Outcome of an upgrade, as the result file has it. */
export interface UpgradeResult extends Pick<UpgradeRecord, 'id' | 'askedBy' | 'attempt'> {
  readonly outcome: UpgradeOutcome;
  /** The reason in words, and the state of the node if it is not the desired one. */
  readonly reason: string;
  readonly from?: Omit<ProgramIdentity, 'sha1'> | undefined;
  readonly to?: Omit<ProgramIdentity, 'sha1'> | undefined;
  readonly target?: string | undefined;
  readonly log?: string | undefined;
  readonly serviceArgs?:
    | {
        readonly before: readonly string[] | undefined;
        readonly after: readonly string[];
      }
    | undefined;
  /** Warnings of the new program, one per line. */
  readonly configWarnings?: string | undefined;
  /** True when the upgrade was undone because of an interruption, not a fault. */
  readonly interrupted?: true | undefined;
}

const LIMIT_BYTES = 1024 * 1024;
const isResult = hasFields<UpgradeResult>({
  id: isText,
  reason: isText,
  to: maybe(hasFields({ sha256: isText })),
  outcome: (value) =>
    ['upgraded', 'nothing', 'refused', 'rolledBack', 'failed'].some((outcome) => outcome === value),
});

/** Replaces the result file durably. @throws UpgradeError `fileFailed`. */
export async function writeResult(
  effects: Effects,
  paths: UpgradePaths,
  result: UpgradeResult,
): Promise<void> {
  await effects.write(paths.result, `${JSON.stringify(dated(result), null, 2)}\n`);
}

/** Writes to a file that later upgrades do not replace. A write failure is only logged. */
export async function recordResult(
  { effects, log }: { readonly effects: Effects; readonly log: UpgradeLog },
  paths: UpgradePaths,
  result: UpgradeResult,
): Promise<void> {
  const file = recordPath(paths, result.id, result.to?.sha256 ?? '');
  await effects.write(file, `${JSON.stringify(dated(result))}\n`).catch((error: unknown) => {
    log.write('cannot write the record for the audit log', { found: messageOf(error) });
  });
}

const dated = (result: UpgradeResult) => ({ format: 1, at: new Date().toISOString(), ...result });

/** Returns the result of the last upgrade; undefined when there is none or it is damaged. */
export async function latestResult(paths: UpgradePaths): Promise<UpgradeResult | undefined> {
  const text = await readResult(paths);
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isResult(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text of the result file, at most 1 MiB; undefined when it is missing. */
export function readResult(paths: UpgradePaths): Promise<string | undefined> {
  return readText(paths.result, LIMIT_BYTES);
}
