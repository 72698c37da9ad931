import type { RunExit } from '@wins/wins-api';
import { escapeText, EXIT } from '@wins/base';
import { constants } from 'node:os';
import { CommandError } from './command-error.js';

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

/**
 * Prints why a run did not end by itself, unless `quiet`. Returns the exit status of the command.
 *
 * @throws CommandError when the exit is unknown.
 */
export function reportExit(name: string, exit: RunExit | undefined, quiet: boolean): number {
  if (exit === undefined || (exit.exitCode ?? exit.signal) === undefined)
    throw new CommandError(`the exit of ${name} is unknown`);
  const { reason } = exit;
  if (reason !== 'exited' && !quiet) {
    const text = `${name} was stopped: ${reason}${REMARKS[reason] ?? ''}`;
    process.stderr.write(`wins: ${escapeText(text)}\n`);
  }
  return exitStatusOf(exit, process.platform);
}
