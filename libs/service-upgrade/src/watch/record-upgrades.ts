import { StateFile } from '@wins/files';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** The end of an upgrade that touched the service, for the audit log. */
export interface UpgradeDecision {
  readonly action: 'upgrade';
  readonly verdict: 'allowed';
  /** Origin of the upgrade request: a run, such as `run ab12`, or `host` for a request from the host itself. */
  readonly requester: string;
  readonly id: string;
  /** `upgraded`, `rolledBack` or `failed`. */
  readonly outcome: string;
  readonly reason: string;
  /** In ISO 8601; `unknown` when the record lacks it. */
  readonly endedAt: string;
  /** Release and SHA-256 of the previous and of the offered program. */
  readonly from: unknown;
  readonly to: unknown;
  readonly argsBefore: unknown;
  readonly argsAfter: unknown;
}

const LOOK_EVERY_MS = 1000;
const LARGEST_BYTES = 256 * 1024;
const RECORD = /^record-[0-9A-Za-z-]{1,96}\.json$/;

/** Throws or rejects if it cannot record the decision. */
export type RecordUpgrade = (decision: UpgradeDecision) => Promise<void> | undefined;

/** The copying that {@link recordUpgrades} has started; closing it ends the copying. */
export interface UpgradeRecords extends Disposable {
  close(): void;
}

/**
 * Copies the records of helpers to the audit log, and repeats this every second while an upgrade is in progress.
 * Removes a record only after copying it.
 */
export function recordUpgrades(
  folder: string,
  record: RecordUpgrade,
  logger: { error(facts: object, message: string): void },
): UpgradeRecords {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const look = async (): Promise<void> => {
    // Check first: if an upgrade ends after this check, the next round copies its record.
    const isUnderWay = existsSync(path.join(folder, 'journal.json'));
    try {
      await takeRecords(folder, record);
    } catch (err) {
      logger.error({ err }, 'cannot copy the record of an upgrade to the audit log');
    }
    if (!isUnderWay || isClosed) return;
    timer = setTimeout(() => void look(), LOOK_EVERY_MS).unref();
  };
  void look();
  const close = (): void => {
    isClosed = true;
    clearTimeout(timer);
  };
  return { close, [Symbol.dispose]: close };
}

async function takeRecords(folder: string, record: RecordUpgrade): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => RECORD.test(each)).sort()) {
    const file = path.join(folder, name);
    // An invalid record is treated as one without known fields.
    const damaged = () => ({});
    const state = new StateFile({ path: file, maxBytes: LARGEST_BYTES, parse: fieldsOf, damaged });
    const value = await state.read();
    if (value !== undefined) await record(actionDecision(value));
    await state.remove();
  }
}

function actionDecision(value: Readonly<Record<string, unknown>>): UpgradeDecision {
  const { id, outcome, reason, at, from, to, askedBy } = value;
  const { before, after } = fieldsOf(value['serviceArgs']);
  return {
    action: 'upgrade',
    verdict: 'allowed',
    requester: typeof askedBy === 'string' ? `run ${askedBy}` : 'host',
    id: textOf(id),
    outcome: textOf(outcome),
    reason: textOf(reason),
    endedAt: textOf(at),
    from,
    to,
    argsBefore: before,
    argsAfter: after,
  };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : 'unknown');
