import type { WinsClient, WinsClientError } from '@wins/wins-api';
import { adminPipeOf, EXIT } from '@wins/wins-program';
import { DaemonCallError } from '../../daemon-call-error.js';
import { debugPipeOf } from './debug-pipe-of.js';
import { askRunningDaemon, type Question, type RunningDaemonOptions } from '../running-daemon.js';

/** The options of a command that records for some time. */
export interface SecondsOptions extends RunningDaemonOptions {
  readonly seconds: number;
}

/**
 * Asks the running daemon for diagnosis.
 *
 * @throws DaemonCallError with an exit code: 64 for what cannot be asked, 69 when nobody answers there, 70 when it cannot tell, 77 for who is no administrator.
 */
export function askForDiagnosis<Answer>(
  options: RunningDaemonOptions,
  ask: (client: WinsClient, signal: AbortSignal) => Promise<Answer>,
  more: Pick<Question, 'timeoutMs' | 'signal'> = {},
): Promise<Answer> {
  return askRunningDaemon(options, ask, {
    ...more,
    ...{ asker: 'wins srv debug', answered },
    // A daemon of an earlier release has a pipe for this alone, unless its config says debugPipe: false.
    pipesOf: (main) => [adminPipeOf(main), debugPipeOf(main)],
  });
}

/** Refuses the rest of an answer that is larger than one of a daemon is. @throws DaemonCallError with the exit code 70. */
export function requireEnd(sizeBytes: number, mostBytes: number): void {
  if (sizeBytes <= mostBytes) return;
  const message = `cannot take the answer of the daemon: found ${sizeBytes} bytes and no end; wanted at most ${mostBytes}`;
  throw new DaemonCallError(message, EXIT.server.internal);
}

function answered(error: WinsClientError): DaemonCallError | undefined {
  if (error.code === 'refused') return undefined;
  const { usage, internal, unavailable } = EXIT.server;
  const isOff = error.reason === 'debugOff';
  const exitCode = isOff ? unavailable : error.code === 'invalidRequest' ? usage : internal;
  return new DaemonCallError(error.details, exitCode, { cause: error });
}
