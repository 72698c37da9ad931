import type { ProcessExit } from '@wins/wins-api';
import { EXIT } from '@wins/base';
import { constants } from 'node:os';

/**
 * Returns 128 + n for signal n. On systems other than Windows a status has 8 bits, so a wider code becomes 255:
 * its low byte could be 0, which means success.
 */
export function exitStatusOf(exit: ProcessExit, platform: NodeJS.Platform): number {
  if (exit.Signal !== '') {
    const signals: Readonly<Record<string, number | undefined>> = constants.signals;
    return EXIT.client.signalBase + (signals[exit.Signal] ?? 0);
  }
  if (platform === 'win32') return exit.Code | 0;
  return exit.Code > EXIT.client.wide ? EXIT.client.wide : exit.Code;
}

const REMARKS: Readonly<Record<string, string | undefined>> = {
  replaced: ' (a newer run replaced it)',
  outOfMemory: ' (it reached its memory limit)',
  daemonStopping: ' (the daemon was stopped, restarted or upgraded)',
};

export function whyStopped({ Reason }: ProcessExit): string | undefined {
  return Reason === 'exited' ? undefined : `${Reason}${REMARKS[Reason] ?? ''}`;
}
