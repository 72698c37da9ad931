import {
  defaultConfigPath,
  type LastingRuns as ConfiguredRuns,
  type WinsConfig,
} from '@wins/config';
import type { AllowedExecutable, LastingGrant } from '@wins/process-manager';
import { escapeText } from '@wins/base';
import path from 'node:path';

const HOUR_MS = 3_600_000;
const KEY = 'white_list.processPaths';

/**
 * Returns the whitelist in the form of the process manager, in the order of the file; an entry without digests is not pinned. An upgrade
 * helper (`mayBreakAway`) becomes the daemon, so it must be signed as `upgrade.signedBy` requires before it runs.
 */
export function allowedBy({
  whiteList,
  upgrade: { signedBy },
}: WinsConfig): readonly AllowedExecutable[] {
  return whiteList.processPaths.map(({ sha256, mayBreakAway = false, lasting, ...entry }) => ({
    ...entry,
    mayBreakAway,
    ...(sha256.length > 0 && { sha256 }),
    ...(mayBreakAway && signedBy && { signedBy }),
    ...(lasting?.allow === true && { lasting: grantOf(lasting) }),
  }));
}

function grantOf({ allow: _, maxAgeHours, ...grant }: ConfiguredRuns): LastingGrant {
  return { ...grant, maxAgeMs: maxAgeHours * HOUR_MS };
}

/**
 * Returns the next step for a client that may not run a program. Clients read it, so it names the file and the key but none of its content.
 */
export function howToAllow(file: string): string {
  const shown = escapeText(path.resolve(file));
  const option = file === defaultConfigPath() ? '' : ` --config ${shown}`;
  return `add it to ${KEY} of ${shown} on the host (wins srv config check${option} shows the list)`;
}
