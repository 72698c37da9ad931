import {
  type EndpointEvents,
  type PipeEndpoint,
  grantsTheSame,
  parseSecurityDescriptor,
} from '@wins/wins-program';
import { Backoff } from '@wins/time';
import { ClientWait } from './client-wait.js';
import { descriptorFromText, descriptorText, handleSecurity } from '../access/file-security.js';
import { withNodeCode } from '../node-code.js';
import { pipeClient, type PipeClient } from './pipe-client.js';
import { socketOfPipe } from './pipe-socket.js';
import {
  DACL_SECURITY_INFORMATION,
  OWNER_SECURITY_INFORMATION,
  SE_KERNEL_OBJECT,
} from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import { EventWaits } from '../win32/calls/event-waits.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import {
  FILE_FLAG_FIRST_PIPE_INSTANCE,
  FILE_FLAG_OVERLAPPED,
  kernel32,
  PIPE_REJECT_REMOTE_CLIENTS,
} from '../win32/kernel32.js';
import { securityAttributes } from '../win32/security-attributes.js';
import { WindowsError } from '../windows-error.js';

const PIPE_ACCESS_DUPLEX = 3;
const PIPE_UNLIMITED_INSTANCES = 255;
/** So many clients get in at the same instant; the next ones find the pipe busy until the event loop has had a turn. */
const WAITING_INSTANCES = 8;
/** What was received and not read yet, of each connection; a client that has filled it waits. */
const RECEIVED_BYTES = 64 * 1024;
/** What was sent and its client has not read yet, of each connection: two rounds of output, so that the next is under way meanwhile. */
const SENT_BYTES = 256 * 1024;
const ACCESS_DENIED = 5;
const PIPE_BUSY = 231;
const INVALID_OWNER = 1307;
const NOT_ALLOWED = 'this process may not serve a pipe with that access list; is it elevated?';

/** Serves a pipe with the access list of `sddl`, or leaves nothing behind. */
export async function openServedPipe(
  address: string,
  sddl: string,
  events: EndpointEvents<PipeClient>,
): Promise<PipeEndpoint> {
  const descriptor = pipeDescriptor(sddl);
  // As the system writes it: it knows the accounts behind aliases.
  const parts = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
  const wanted = descriptorText(descriptor, parts, `wrote ${sddl} again`);
  const attributes = securityAttributes(descriptor);
  const pipe = new ServedPipe(address, attributes, events);
  try {
    pipe.open(wanted);
  } catch (error) {
    await pipe.close();
    throw error;
  }
  return pipe;
}

/** The binary form of what a pipe gets. @throws WindowsError `invalidArgument` when the system does not understand it. */
export function pipeDescriptor(sddl: string): Buffer {
  // By its owner clients know that a privileged process made the pipe; the owner by default is a matter of the host's policy.
  const hasOwner = parseSecurityDescriptor(sddl).owner !== undefined;
  return descriptorFromText(hasOwner ? sddl : `O:BA${sddl}`);
}

class ServedPipe implements PipeEndpoint {
  readonly #address: string;
  readonly #attributes: Buffer;
  readonly #events: EndpointEvents<PipeClient>;
  readonly #closing = new AbortController();
  readonly #eventWaits = new EventWaits();
  readonly #clientWaits: ClientWait[] = [];
  readonly #ends: Promise<void>[] = [];
  // A wait of the system does not hold the event loop.
  readonly #keepAlive = setInterval(() => undefined, 2 ** 30);
  #closed: Promise<void> | undefined;

  constructor(address: string, attributes: Buffer, events: EndpointEvents<PipeClient>) {
    this.#address = address;
    this.#attributes = attributes;
    this.#events = events;
  }

  /** When it throws half way, `close` undoes what is done. */
  open(wanted: string): void {
    this.#serve(this.#first(), (first) => this.#verify(first, wanted));
    while (this.#ends.length < WAITING_INSTANCES) this.#serve(this.#second());
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    for (const wait of this.#clientWaits) wait.cancel();
    await Promise.all(this.#ends);
    this.#eventWaits.close();
    clearInterval(this.#keepAlive);
  }

  #serve(instance: OwnedHandle, verify?: (instance: OwnedHandle) => void): void {
    try {
      verify?.(instance);
      const wait = new ClientWait(this.#eventWaits, `waited for a client of ${this.#address}`);
      this.#clientWaits.push(wait);
      this.#ends.push(this.#accept(instance, wait));
    } catch (error) {
      instance.close();
      throw error;
    }
  }

  /** Creates the next instance before it gives one up: while a name has no instance, any process can create the pipe. */
  async #accept(first: OwnedHandle, wait: ClientWait): Promise<void> {
    let instance = first;
    const backoff = new Backoff({ initialMs: 10, maxMs: 1_000, jitter: 0 });
    while (!this.#isClosing()) {
      try {
        const isThere = await wait.client(instance.value);
        if (this.#isClosing()) break;
        if (isThere) {
          const next = this.#create(0);
          this.#handOver(instance);
          instance = next;
        } else kernel32.DisconnectNamedPipe(instance.value);
        backoff.reset();
      } catch (error) {
        this.#events.failed(error);
        kernel32.DisconnectNamedPipe(instance.value);
        await backoff.wait(this.#closing.signal).catch(() => undefined);
      }
    }
    instance.close();
    wait.close();
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  #handOver(instance: OwnedHandle): void {
    try {
      // The instance is the socket's afterwards.
      const client = pipeClient(instance.value);
      this.#events.accepted(socketOfPipe(instance), client);
    } catch (error) {
      this.#events.failed(error);
    }
  }

  #first(): OwnedHandle {
    try {
      return this.#create(FILE_FLAG_FIRST_PIPE_INSTANCE);
    } catch (error) {
      const mine = withNodeCode(error, 'EACCES', [INVALID_OWNER], NOT_ALLOWED);
      const taken = 'another process serves it';
      throw withNodeCode(mine, 'EADDRINUSE', [ACCESS_DENIED, PIPE_BUSY], taken);
    }
  }

  #second(): OwnedHandle {
    try {
      return this.#create(0);
    } catch (error) {
      throw withNodeCode(error, 'EACCES', [ACCESS_DENIED], NOT_ALLOWED);
    }
  }

  #create(flags: number): OwnedHandle {
    const handle = call(
      `made the pipe ${this.#address}`,
      kernel32.CreateNamedPipeW,
      this.#address,
      PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | flags,
      PIPE_REJECT_REMOTE_CLIENTS,
      PIPE_UNLIMITED_INSTANCES,
      SENT_BYTES,
      RECEIVED_BYTES,
      0,
      this.#attributes,
    );
    return new OwnedHandle(handle);
  }

  #verify(instance: OwnedHandle, wanted: string): void {
    const tried = `read owner and access list of the pipe ${this.#address} back`;
    const found = handleSecurity(instance.value, tried, SE_KERNEL_OBJECT);
    const [a, b] = [parseSecurityDescriptor(found), parseSecurityDescriptor(wanted)];
    if (a.owner === b.owner && grantsTheSame(a, b)) return;
    throw new WindowsError('notVerified', `${tried}: it is ${found}; wanted ${wanted}`);
  }
}
