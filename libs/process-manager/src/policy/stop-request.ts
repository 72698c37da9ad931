import { STOP_SIGNALS, type StopRequest } from '@wins/base';
import type { PathDialect } from './parsed-path.js';

/** How the daemon asks the runs of an entry to end. */
export interface StoppedEntry {
  /** Signal that asks a run to end. Default: SIGTERM; on Windows none, so the run is killed. */
  readonly stopSignal?: NonNullable<StopRequest['signal']> | undefined;
  /** Windows only: name of an event, such as `Global\\exporter-stop`. Setting the event asks a run to end, as a signal does elsewhere. */
  readonly stopEvent?: string | undefined;
}

export function stopRequest({ stopSignal, stopEvent }: StoppedEntry): StopRequest {
  return { signal: stopSignal, event: stopEvent };
}

export function faultOfStop(
  { stopSignal, stopEvent }: StoppedEntry,
  dialect: PathDialect,
): string | undefined {
  const known: readonly string[] = STOP_SIGNALS[dialect];
  if (stopSignal !== undefined && !known.includes(stopSignal))
    return `its "stopSignal" is ${stopSignal}, which this system does not have; wanted ${known.join(', ')}`;
  if (stopEvent === undefined) return undefined;
  if (dialect === 'posix')
    return 'it has "stopEvent", but this system has no events; wanted "stopSignal"';
  return stopSignal && 'it has "stopSignal" and "stopEvent"; wanted one of them';
}
