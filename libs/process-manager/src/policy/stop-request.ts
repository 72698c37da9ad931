import { STOP_SIGNALS, type StopRequest } from '@wins/base';
import type { PathDialect } from './parsed-path.js';

/** How the runs of an entry are asked to end. */
export interface StoppedEntry {
  /** The signal that asks it to end, one of `STOP_SIGNALS` of the system. Default: SIGTERM, and on Windows it is not asked. */
  readonly stopSignal?: NonNullable<StopRequest['signal']>;
  /** Windows alone: the name of the event that asks it to end, in the place of a signal, such as `Global\\exporter-stop`. */
  readonly stopEvent?: string;
}

/** How a run of an entry is asked to end. Pure. */
export function stopRequest({ stopSignal, stopEvent }: StoppedEntry): StopRequest {
  return {
    ...(stopSignal && { signal: stopSignal }),
    ...(stopEvent !== undefined && { event: stopEvent }),
  };
}

/** Why the runs of an entry cannot be asked on a host of this kind, or undefined. */
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
