import type { WinsConfig } from '@wins/config';
import type { AllowedExecutable } from '@wins/process-manager';

/** The whitelist as the process manager takes it, in the order of the file: without digests an entry is not pinned. */
export function allowedBy({ whiteList }: WinsConfig): readonly AllowedExecutable[] {
  return whiteList.processPaths.map(({ sha256, mayBreakAway = false, ...entry }) => ({
    ...entry,
    mayBreakAway,
    ...(sha256.length > 0 && { sha256 }),
  }));
}
