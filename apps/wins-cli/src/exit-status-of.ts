import type { ProcessExit } from '@wins/wins-api';
import { EXIT } from '@wins/base';
import { constants } from 'node:os';

/**
 * Returns 128 + n for signal n. On systems other than Windows a status has 8 bits, so a wider code becomes 255:
 * its low byte could be 0, which means success.
 */
export function exitStatusOf(exit: ProcessExit, platform: NodeJS.Platform): number {
  if (exit.signal !== '') {
    const signals: Readonly<Record<string, number | undefined>> = constants.signals;
    return EXIT.client.signalBase + (signals[exit.signal] ?? 0);
  }
  if (platform === 'win32') return exit.code | 0;
  return exit.code > EXIT.client.wide ? EXIT.client.wide : exit.code;
}

const REMARKS: Readonly<Record<string, string | undefined>> = {
  replaced: ' (a newer run replaced it)',
  outOfMemory: ' (it reached its memory limit)',
  daemonStopping: ' (the daemon was stopped, restarted or upgraded)',
};

export function whyStopped({ reason }: ProcessExit): string | undefined {
  return reason === 'exited' ? undefined : `${reason}${REMARKS[reason] ?? ''}`;
}
