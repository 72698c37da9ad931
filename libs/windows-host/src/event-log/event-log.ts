import { RegistryKey } from '../registry/registry.js';
import { oneText } from '../services/service-config.js';
import { advapi32 } from '../win32/advapi32.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { escapeText } from '@wins/base';

/** An entry for the Windows event log. */
export interface LogEvent {
  readonly type: 'error' | 'warning' | 'information';
  /** 1 to 1000. */
  readonly id: number;
  /** The list in Event Viewer shows the first line. `report` escapes untrusted text, and cuts the text at 31,839 characters. */
  readonly lines: readonly string[];
}

/** The event log, for one source. The caller that opened it closes it. */
export interface EventLog extends Disposable {
  /**
   * Returns false when the system rejects the event, for example because the log is full. The caller need not react.
   *
   * @throws RangeError for an id outside of 1 to 1000, and after `close`.
   */
  report(event: LogEvent): boolean;
  /** Idempotent. */
  close(): void;
}

const TYPES = { error: 1, warning: 2, information: 4 } as const;
const LARGEST_ID = 1000;
const APPLICATION_LOG = 'SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application';
/** A message file that every Windows has; its messages 1 to 1000 show just the text of the event. */
const MESSAGE_FILE = '%SystemRoot%\\System32\\EventCreate.exe';

/**
 * An unregistered source works too, but its events are harder to read.
 *
 * @throws WindowsError `unavailable`, `accessDenied`.
 */
export function openEventLog(source: string): EventLog {
  const { RegisterEventSourceW, DeregisterEventSource, ReportEventW } = advapi32;
  const handle = call(
    `cannot open the event log for ${source}`,
    RegisterEventSourceW,
    null,
    source,
  );
  const log = new OwnedHandle(handle, (value) => void DeregisterEventSource(value));
  return {
    report: ({ type, id, lines }) => {
      const isKnown = Number.isInteger(id) && id >= 1 && id <= LARGEST_ID;
      const wanted = `it must be from 1 to ${LARGEST_ID}`;
      if (!isKnown) throw new RangeError(`cannot write an event with the id ${id}: ${wanted}`);
      // ReportEventW wants a list of pointers. The buffer from `oneText` starts with a pointer to its text.
      const strings = oneText(eventText(lines));
      return ReportEventW(log.value, TYPES[type], 0, id, null, 1, 0, strings, null) !== 0;
    },
    close: () => log.close(),
    [Symbol.dispose]: () => log.close(),
  };
}

/**
 * Registers a source of the Application log, so that the viewer shows its events as text. Idempotent.
 *
 * @throws WindowsError `accessDenied`.
 */
export function registerEventSource(source: string): void {
  using key = RegistryKey.create(keyOf(source));
  key.set('EventMessageFile', { type: 'expandable-text', value: MESSAGE_FILE });
  const { error, warning, information } = TYPES;
  key.set('TypesSupported', { type: 'number', value: error | warning | information });
}

/**
 * Deletes the registration of a source. Does not delete the source's events from the log. Ignores an unknown source.
 *
 * @throws WindowsError `accessDenied`.
 */
export function unregisterEventSource(source: string): void {
  RegistryKey.deleteTree(keyOf(source));
}

export function isEventSource(source: string): boolean {
  using key = RegistryKey.open(keyOf(source));
  return key !== undefined;
}

/** Rejects a name that would lead to another key. */
function keyOf(source: string): string {
  if (!/^[\w-]+$/.test(source))
    throw new RangeError(`"${source}" is not the name of an event source`);
  return `${APPLICATION_LOG}\\${source}`;
}

/** The most characters that the event log takes in one string. */
export const LONGEST_EVENT_TEXT = 31_839;
const CUT = '…';

/**
 * Joins lines. Cuts a text longer than {@link LONGEST_EVENT_TEXT} UTF-16 units, and ends it with `…`. Escapes characters
 * that could forge a line, and `%` before a digit, which the event viewer would expand.
 */
export function eventText(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    text += `${text === '' ? '' : '\r\n'}${escapeLine(line)}`;
    if (text.length > LONGEST_EVENT_TEXT) break;
  }
  return text.length > LONGEST_EVENT_TEXT
    ? `${text.slice(0, LONGEST_EVENT_TEXT - CUT.length)}${CUT}`
    : text;
}

function escapeLine(line: string): string {
  return escapeText(line, { maxLength: LONGEST_EVENT_TEXT + 1 }).replace(/%(?=\d)/g, '\\u0025');
}
