import { quoteText } from '@wins/base';
import { descriptorFromText, handleSecurity, securityAttributes } from '../access/file-security.js';
import { SE_KERNEL_OBJECT } from '../win32/advapi32.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { EventWaits } from '../win32/calls/event-waits.js';
import { kernel32, READ_CONTROL } from '../win32/kernel32.js';
import { systemError } from '../windows-error.js';

const ALREADY_EXISTS = 183;
const EVENT_MODIFY_STATE = 2;

/** Event that {@link listenToEvent} creates. */
export interface NamedEvent {
  /** With its namespace, such as `Global\\stackdump-4711`. Only services and administrators may create names in `Global`. */
  readonly name: string;
  readonly sddl: string;
  /** Called after a signal. Calls do not overlap: all signals during a call lead to one more call. */
  readonly signalled: () => Promise<void>;
  /** Receives the error of a `signalled` call, or the error that ended listening. */
  readonly failed: (error: unknown) => void;
}

/** Waits for a {@link NamedEvent} until it is closed. */
export interface EventListener extends AsyncDisposable {
  /** Resolves when a pending call has ended and the event is gone. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates an auto-reset event and listens to it. Uses no thread, and does not keep the process alive.
 * https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createeventw
 *
 * @throws WindowsError `alreadyExists` if the name is taken: `sddl` would not apply to the existing event.
 */
export function listenToEvent({ name, sddl, signalled, failed }: NamedEvent): EventListener {
  const tried = `cannot create the event ${quoteText(name)}`;
  const { CreateEventW, GetLastError, SetEvent } = kernel32;
  const security = securityAttributes(descriptorFromText(sddl));
  const event = new OwnedHandle(call(tried, CreateEventW, security, 0, 0, name));
  const errorNumber = GetLastError();
  if (errorNumber === ALREADY_EXISTS) {
    event.close();
    throw systemError(tried, { functionName: 'CreateEventW', errorNumber });
  }
  const eventWaits = new EventWaits();
  let isOpen = true;
  const stillOpen = (): boolean => isOpen;
  const listening = (async () => {
    try {
      for (;;) {
        await eventWaits.signalled(event.value, `cannot wait for the event ${quoteText(name)}`);
        // A wait cannot be cancelled, so `close` ends it by a signal.
        if (!stillOpen()) return;
        await signalled().catch(failed);
      }
    } catch (error) {
      failed(error);
    } finally {
      isOpen = false;
      eventWaits.close();
      event.close();
    }
  })();
  const close = (): Promise<void> => {
    if (isOpen) {
      isOpen = false;
      SetEvent(event.value);
    }
    return listening;
  };
  return { close, [Symbol.asyncDispose]: close };
}

/** Signals an event of another process. @throws WindowsError `notFound`, `accessDenied`. */
export function signalEvent(name: string): void {
  using event = openEvent(`cannot open the event ${quoteText(name)}`, EVENT_MODIFY_STATE, name);
  call(`cannot signal the event ${quoteText(name)}`, kernel32.SetEvent, event.value);
}

/** Returns the owner and the access list of an event, as SDDL. @throws WindowsError `notFound`, `accessDenied`. */
export function eventAccess(name: string): string {
  const tried = `cannot read the access list of the event ${quoteText(name)}`;
  using event = openEvent(tried, READ_CONTROL, name);
  return handleSecurity(event.value, tried, SE_KERNEL_OBJECT);
}

function openEvent(tried: string, access: number, name: string): OwnedHandle {
  return new OwnedHandle(call(tried, kernel32.OpenEventW, access, 0, name));
}
