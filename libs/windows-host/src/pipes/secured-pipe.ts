import { processAccount, type ProcessAccount } from '../access/process-account.js';
import { unlessFails, WindowsError, withNodeCode, type NodeCode } from '../windows-error.js';
import * as win32 from '../win32/kernel32.js';
import {
  grantsTheSame,
  parseSecurityDescriptor,
  quoteText,
  TextError,
  ADMINISTRATORS_AND_SYSTEM,
  judgePipeAccess,
  type EndpointEvents,
  type PipeEndpoint,
} from '@wins/base';
import { Backoff } from '@wins/time';
import type { Socket } from 'node:net';
import { ClientWait } from './client-wait.js';
import * as security from '../access/file-security.js';
import { socketOfPipe } from '../processes/pipe-socket.js';
import * as advapi from '../win32/advapi32.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { EventWaits } from '../win32/calls/event-waits.js';

/** Client of a pipe instance that this process serves. No client can forge any of these facts. */
export interface PipeClient {
  /** The process that opened the instance; it may have ended since. */
  readonly pid: number;
  /** Session of that process. Services of the host have session 0, and a container has its own sessions. */
  readonly session: number | undefined;
  /** Undefined when the process has ended, or may not be queried. */
  readonly account: ProcessAccount | undefined;
}

/** Undefined when the client has disconnected. */
function pipeClient(pipe: win32.Handle): PipeClient | undefined {
  const pid: [number] = [0];
  if (win32.kernel32.GetNamedPipeClientProcessId(pipe, pid) === 0) return undefined;
  const session: [number] = [0];
  const hasSession = win32.kernel32.GetNamedPipeClientSessionId(pipe, session) !== 0;
  return {
    pid: pid[0],
    session: hasSession ? session[0] : undefined,
    account: unlessFails(() => processAccount(pid[0])),
  };
}

const PIPE_ACCESS_DUPLEX = 3;
const PIPE_UNLIMITED_INSTANCES = 255;
/** Number of clients that can connect at the same instant. Further clients find the pipe busy until the event loop runs. */
const WAITING_INSTANCES = 8;
/** Input buffer of each connection. A full buffer makes the client wait. */
const RECEIVED_BYTES = 64 * 1024;
/** Output buffer of each connection. It has room for two writes: the client can read one while this process adds the next. */
const SENT_BYTES = 256 * 1024;
const ACCESS_DENIED = 5;
const PIPE_BUSY = 231;
const INVALID_OWNER = 1307;
const NOT_ALLOWED = 'this process may not serve a pipe with that access list; is it elevated?';
const OF_FIRST: readonly NodeCode[] = [
  ['EACCES', [INVALID_OWNER], NOT_ALLOWED],
  ['EADDRINUSE', [ACCESS_DENIED, PIPE_BUSY], 'another process serves it'],
];
const OF_OTHERS: NodeCode = ['EACCES', [ACCESS_DENIED], NOT_ALLOWED];

/** Leaves nothing behind on failure. */
async function openServedPipe(
  address: string,
  sddl: string,
  events: EndpointEvents<PipeClient>,
): Promise<PipeEndpoint> {
  const descriptor = pipeDescriptor(sddl);
  // SDDL names some accounts by aliases, such as LA. The system resolves them, so let it normalise the access list.
  const parts = advapi.OWNER_SECURITY_INFORMATION | advapi.DACL_SECURITY_INFORMATION;
  const wanted = security.descriptorText(descriptor, parts, `cannot normalise ${sddl}`);
  const attributes = security.securityAttributes(descriptor);
  const pipe = new ServedPipe(address, attributes, events);
  try {
    pipe.open(wanted);
  } catch (error) {
    await pipe.close();
    throw error;
  }
  return pipe;
}

/** @throws WindowsError `invalidArgument` for text that is not SDDL. */
function pipeDescriptor(sddl: string): Buffer {
  // Always name an owner: clients check the owner, and the default owner depends on host policy.
  const hasOwner = parseSecurityDescriptor(sddl).owner !== undefined;
  return security.descriptorFromText(hasOwner ? sddl : `O:BA${sddl}`);
}

class ServedPipe implements PipeEndpoint {
  readonly #address: string;
  readonly #attributes: Buffer;
  readonly #events: EndpointEvents<PipeClient>;
  readonly #closing = new AbortController();
  readonly #eventWaits = new EventWaits();
  readonly #clientWaits: ClientWait[] = [];
  readonly #ends: Promise<void>[] = [];
  // A system wait that is pending does not keep the event loop alive, so this timer does.
  readonly #keepAlive = setInterval(() => undefined, 2 ** 30);
  #closed: Promise<void> | undefined;

  constructor(address: string, attributes: Buffer, events: EndpointEvents<PipeClient>) {
    this.#address = address;
    this.#attributes = attributes;
    this.#events = events;
  }

  /** After a failure, `close` releases the instances that were already created. */
  open(wanted: string): void {
    const first = this.#instance(win32.FILE_FLAG_FIRST_PIPE_INSTANCE, ...OF_FIRST);
    this.#serve(first, (instance) => this.#verify(instance, wanted));
    while (this.#ends.length < WAITING_INSTANCES) this.#serve(this.#instance(0, OF_OTHERS));
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
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
      const wait = new ClientWait(this.#eventWaits, `cannot wait for a client of ${this.#address}`);
      this.#clientWaits.push(wait);
      this.#ends.push(this.#accept(instance, wait));
    } catch (error) {
      instance.close();
      throw error;
    }
  }

  /** Creates the next instance before it hands over the current one. Without any instance, another process could create the pipe. */
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
        } else win32.kernel32.DisconnectNamedPipe(instance.value);
        backoff.reset();
      } catch (error) {
        this.#events.failed(error);
        win32.kernel32.DisconnectNamedPipe(instance.value);
        await backoff.wait({ signal: this.#closing.signal }).catch(() => undefined);
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
      // Query the client first: afterwards the socket owns the instance, and may close it.
      const client = pipeClient(instance.value);
      this.#events.accepted(socketOfPipe(instance), client);
    } catch (error) {
      this.#events.failed(error);
    }
  }

  #instance(flags: number, ...codes: readonly NodeCode[]): OwnedHandle {
    try {
      return this.#create(flags);
    } catch (error) {
      throw withNodeCode(error, ...codes);
    }
  }

  #create(flags: number): OwnedHandle {
    const handle = call(
      `cannot create the pipe ${this.#address}`,
      win32.kernel32.CreateNamedPipeW,
      this.#address,
      PIPE_ACCESS_DUPLEX | win32.FILE_FLAG_OVERLAPPED | flags,
      win32.PIPE_REJECT_REMOTE_CLIENTS,
      PIPE_UNLIMITED_INSTANCES,
      SENT_BYTES,
      RECEIVED_BYTES,
      0,
      this.#attributes,
    );
    return new OwnedHandle(handle);
  }

  #verify(instance: OwnedHandle, wanted: string): void {
    const tried = `cannot verify owner and access list of the pipe ${this.#address}`;
    const found = security.handleSecurity(instance.value, tried, advapi.SE_KERNEL_OBJECT);
    const [a, b] = [parseSecurityDescriptor(found), parseSecurityDescriptor(wanted)];
    if (a.owner === b.owner && grantsTheSame(a, b)) return;
    throw new WindowsError('notVerified', `${tried}: it is ${found}; wanted ${wanted}`);
  }
}

/** Options of {@link securedPipe}. */
export interface SecuredPipeOptions {
  /** Access to the pipe, as SDDL. Default: Administrators and SYSTEM. If the SDDL names no owner, Administrators own the pipe. */
  readonly sddl?: string | undefined;
}

/** Opens pipes that are protected from their first instant. */
export interface PipeProtection {
  /**
   * Serves the pipe at `path.address`, such as `\\.\pipe\NAME`, as its only server. Keeps the event loop alive until
   * the endpoint is closed. Eight instances wait for clients. Creates the next instance before handing over a client,
   * so that the name is never free. When the creation fails, disconnects the client, calls `failed`, and waits again
   * after 10 ms to 1 s.
   *
   * @throws Error with Node's code `EADDRINUSE` when the name is taken, `EACCES` when this process may not serve it;
   * WindowsError `notVerified` when the pipe has another owner or access list. A failed call leaves no pipe behind.
   */
  open(
    path: { readonly address: string },
    events: EndpointEvents<PipeClient>,
  ): Promise<PipeEndpoint>;
  /** Undefined when the client disconnected before it was accepted. */
  clientOf(connection: Socket): PipeClient | undefined;
}

/**
 * Named pipes in byte mode that only the accounts of an access list may open, and only from this host.
 *
 * @throws WindowsError `invalidArgument` for a faulty access list.
 */
export function securedPipe(options: SecuredPipeOptions = {}): PipeProtection {
  const sddl = options.sddl ?? ADMINISTRATORS_AND_SYSTEM;
  const { fault } = judgePipeAccess(sddl);
  if (fault !== undefined) {
    const message = `cannot read who may open the pipe from ${quoteText(sddl)}: ${fault}; wanted SDDL such as ${ADMINISTRATORS_AND_SYSTEM}`;
    throw new WindowsError('invalidArgument', message);
  }
  const clients = new WeakMap<Socket, PipeClient>();
  return {
    clientOf: (connection) => clients.get(connection),
    open: ({ address }, events) =>
      openServedPipe(address, sddl, {
        accepted: (connection, client) => {
          if (client !== undefined) clients.set(connection, client);
          events.accepted(connection, client);
        },
        failed: (error) => events.failed(error),
      }),
  };
}

/**
 * Returns the reason why this system cannot use an access list, such as the unknown domain of an account. The text can
 * end a sentence. Returns undefined for a usable list. {@link securedPipe} does not check this.
 */
export function pipeAccessFault(sddl: string): string | undefined {
  try {
    pipeDescriptor(sddl);
    return undefined;
  } catch (error) {
    if (error instanceof TextError) return `it is not SDDL (${error.message})`;
    if (!(error instanceof WindowsError)) throw error;
    return `this host does not understand it (${error.symbol ?? error.message})`;
  }
}
