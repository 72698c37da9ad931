import {
  ADMINISTRATORS_AND_SYSTEM,
  judgePipeAccess,
  quoteText,
  TextError,
  type EndpointEvents,
  type PipeEndpoint,
} from '@wins/wins-program';
import { openServedPipe, pipeDescriptor } from './served-pipe.js';
import type { PipeClient } from './pipe-client.js';
import { WindowsError } from '../windows-error.js';

/** How {@link securedPipe} protects. */
export interface SecuredPipeOptions {
  /** Who may open the pipe, as SDDL with an access list; its owner is Administrators if it names none. Default: Administrators and SYSTEM. */
  readonly sddl?: string | undefined;
}

/** Opens pipes that are protected from their first instant. */
export interface PipeProtection {
  /**
   * Serves the pipe at `path.address`, such as `\\.\pipe\NAME`, alone, and keeps the event loop alive until it is closed.
   *
   * Eight instances wait for clients; one that has its client is replaced before the client is handed over, so that the name is
   * held without a break. When that fails the client is disconnected, `failed` is called, and the instance waits again after
   * 10 ms, 20 ms, and so on up to 1 s.
   *
   * @throws Error with Node's code `EADDRINUSE` when the name is taken, `EACCES` when this process is not among those that may
   * serve it; WindowsError `notVerified` when the pipe's owner or access list is not the wanted one, and others as the system
   * has it. Nothing is left behind.
   */
  open(
    path: { readonly address: string },
    events: EndpointEvents<PipeClient>,
  ): Promise<PipeEndpoint>;
}

/**
 * Named pipes that only those whom an access list names may open, and only from this host: byte mode, buffers of 64 KiB.
 *
 * @throws WindowsError `invalidArgument` for what `judgePipeAccess` of `@wins/wins-program` finds faulty.
 */
export function securedPipe(options: SecuredPipeOptions = {}): PipeProtection {
  const sddl = options.sddl ?? ADMINISTRATORS_AND_SYSTEM;
  const { fault } = judgePipeAccess(sddl);
  if (fault !== undefined) {
    const message = `cannot read who may open the pipe from ${quoteText(sddl)}: ${fault}; wanted SDDL such as ${ADMINISTRATORS_AND_SYSTEM}`;
    throw new WindowsError('invalidArgument', message);
  }
  return { open: ({ address }, events) => openServedPipe(address, sddl, events) };
}

/**
 * Why this system cannot protect a pipe with an access list that {@link securedPipe} takes: it names an account of a domain that
 * this host does not know.
 *
 * @returns The end of a sentence; undefined when it can.
 */
export function pipeAccessFault(sddl: string): string | undefined {
  try {
    pipeDescriptor(sddl);
    return undefined;
  } catch (error) {
    if (error instanceof TextError) return `it is none (${error.message})`;
    if (!(error instanceof WindowsError)) throw error;
    return `this host does not understand it (${error.symbol ?? error.message})`;
  }
}
