import type { ProcessExit } from '@wins/wins-api';
import { constants } from 'node:os';

/** How `wins cli` ends when it is not the exit code of the process that it ran. */
export const EXIT = {
  ok: 0,
  /** The daemon or the way to it failed, or the command line made no sense. */
  failed: 125,
  /** The daemon refused: not on the whitelist, other content than pinned, a variable not allowed. */
  refused: 126,
  /** There is no such program, process or directory. */
  notFound: 127,
} as const;

const SIGNAL_BASE = 128;

/**
 * The exit status that stands for how a process ended: its own code, or 128 + n for signal n.
 *
 * Outside Windows a status has 8 bits; a wider code (0xC0000005 of a Windows process) becomes 255
 * rather than its low byte, which could read as success.
 */
export function exitStatusOf(exit: ProcessExit, platform: NodeJS.Platform): number {
  if (exit.Signal !== '') {
    const signals: Readonly<Record<string, number | undefined>> = constants.signals;
    return SIGNAL_BASE + (signals[exit.Signal] ?? 0);
  }
  if (platform === 'win32') return exit.Code | 0;
  return exit.Code > 0xff ? 0xff : exit.Code;
}
