import { readText, replaceText } from './durable-files.js';
import type { Effects } from '../run/effects.js';
import { type UpgradePlaces } from './upgrade-places.js';

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
export interface UpgradeResult {
  /** The name of the upgrade. */
  readonly id: string;
  readonly outcome: UpgradeOutcome;
  /** Why, in words; what state the node is in, unless it is the wanted one. */
  readonly reason: string;
  readonly from?: { readonly version?: string; readonly sha256: string };
  readonly to?: { readonly version?: string; readonly sha256: string };
  readonly target?: string;
  readonly log?: string;
  /** The words of the service after its program; `before` is absent when there was none. */
  readonly serviceArgs?: { readonly before?: readonly string[]; readonly after: readonly string[] };
  /** What the new program doubts of the config, a line for each doubt; absent when it has none. */
  readonly configWarnings?: string;
  /** The run in which it was asked for; absent when that was on the host itself. */
  readonly askedBy?: string;
  /** Whether it was undone because it was interrupted, and not because of what it found. */
  readonly interrupted?: boolean;
  /** The how manieth upgrade to this program in a row a daemon began by itself; absent when it was asked for. */
  readonly attempt?: number;
}

const OUTCOMES: Readonly<Record<UpgradeOutcome, true>> = {
  ...{ upgraded: true, nothing: true, refused: true, rolledBack: true, failed: true },
};

/** Writes the result file, durably. */
export async function writeResult(
  effects: Effects,
  places: UpgradePlaces,
  result: UpgradeResult,
): Promise<void> {
  const text = `${JSON.stringify({ format: 1, at: new Date().toISOString(), ...result }, null, 2)}\n`;
  await replaceText(effects, places.result, text);
}

const LIMIT_BYTES = 1024 * 1024;

/** What the result file says; undefined when there is none, or it is none of ours. */
export async function latestResult(places: UpgradePlaces): Promise<UpgradeResult | undefined> {
  const text = await readResult(places);
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isResult(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isResult(value: unknown): value is UpgradeResult {
  if (typeof value !== 'object' || value === null) return false;
  const { id, outcome, reason, to } = value as Readonly<Record<string, unknown>>;
  return (
    typeof id === 'string' &&
    typeof reason === 'string' &&
    typeof outcome === 'string' &&
    Object.hasOwn(OUTCOMES, outcome) &&
    (to === undefined || (typeof to === 'object' && to !== null && 'sha256' in to))
  );
}

/** Reads the text of the result file; undefined when there is none. */
export function readResult(places: UpgradePlaces): Promise<string | undefined> {
  return readText(places.result, LIMIT_BYTES);
}
