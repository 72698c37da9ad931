import type { RunExit } from '@wins/wins-api';
import { EXIT } from '@wins/base';
import { constants } from 'node:os';

/**
 * Returns 128 + n for signal n. On systems other than Windows a status has 8 bits, so a wider code becomes 255:
 * its low byte could be 0, which means success.
 */
export function exitStatusOf(exit: RunExit, platform: NodeJS.Platform): number {
  const { signal, exitCode = 0 } = exit;
  if (signal !== undefined) {
    const signals: Readonly<Record<string, number | undefined>> = constants.signals;
    return EXIT.client.signalBase + (signals[signal] ?? 0);
  }
  if (platform === 'win32') return exitCode | 0;
  return exitCode > EXIT.client.wide ? EXIT.client.wide : exitCode;
}

const REMARKS: Readonly<Record<string, string | undefined>> = {
  replaced: ' (a newer run replaced it)',
  outOfMemory: ' (it reached its memory limit)',
  daemonStopping: ' (the daemon was stopped, restarted or upgraded)',
};

export function whyStopped({ reason }: RunExit): string | undefined {
  return reason === 'exited' ? undefined : `${reason}${REMARKS[reason] ?? ''}`;
}
