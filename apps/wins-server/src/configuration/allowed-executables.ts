import { commandWord, escapeText, signerRuleOf, type ProcessHost } from '@wins/base';
import { defaultConfigPath, type DetachedRunSettings, type WinsConfig } from '@wins/config';
import {
  judgeStart,
  MAX_EXECUTABLE_BYTES,
  type AllowedExecutable,
  type DetachedGrant,
  type RestartBackoff,
  type StartVerdict,
} from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import path from 'node:path';

const HOUR_MS = 3_600_000;
const KEY = 'white_list.processPaths';

/** Returns the whitelist. `upgrade.signedBy` applies to upgrade helpers (`mayBreakAway`), because they become the daemon. */
export function allowedBy({ whiteList, upgrade }: WinsConfig): readonly AllowedExecutable[] {
  const signerRule = signerRuleOf(upgrade);
  return whiteList.processPaths.map(
    ({ sha256, mayBreakAway = false, detached, ...entry }): AllowedExecutable => ({
      ...entry,
      mayBreakAway,
      ...(sha256.length > 0 && { sha256 }),
      ...(mayBreakAway && signerRule && { signerRule }),
      ...(detached?.allow === true && { detached: grantOf(detached) }),
    }),
  );
}

function grantOf({ allow: _, maxAgeHours, restart, ...grant }: DetachedRunSettings): DetachedGrant {
  const maxAgeMs = maxAgeHours * HOUR_MS;
  return { ...grant, maxAgeMs, ...(restart?.allow === true && { restart: backoffOf(restart) }) };
}

export function backoffOf(restart: RestartBackoff): RestartBackoff {
  const { delayMs, maxDelayMs, giveUpAfter } = restart;
  return { delayMs, maxDelayMs, ...(giveUpAfter !== undefined && { giveUpAfter }) };
}

/** Clients read this advice, so it names the file and the key but quotes nothing from the file. */
export function howToAllow(file: string): string {
  const whole = path.resolve(file);
  const option = file === defaultConfigPath() ? '' : ` --config ${commandWord(whole)}`;
  return `add it to ${KEY} of ${escapeText(whole)} on the host (wins srv config check${option} shows the list)`;
}

/** Judges a start on this host; hashes the file if digests are pinned but `sha256` is absent. @throws TrustedFileError */
export async function judgeStartHere(
  question: { readonly path: string; readonly sha256?: string | undefined },
  config: WinsConfig,
  host: ProcessHost,
): Promise<StartVerdict> {
  const { path, sha256 } = question;
  const context = { allowed: allowedBy(config), host };
  const verdict = await judgeStart({ path, ...(sha256 !== undefined && { sha256 }) }, context);
  if (verdict.refusal !== undefined || !verdict.isPinned || sha256 !== undefined) return verdict;
  const found = await hashFile(path, ['sha256'], { maxBytes: MAX_EXECUTABLE_BYTES });
  return judgeStart({ path, sha256: found.sha256 }, context);
}
