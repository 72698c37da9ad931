import { status } from '@grpc/grpc-js';
import type { EndReason, ServedStream } from '@wins/http2-connection';
import { ERROR_METADATA_KEY } from '@wins/wins-api/contract';
import type { TraceContext } from './trace-context.js';
import type { Socket } from 'node:net';
import type { ClientIdentity } from '@wins/base';
import { clientLabel } from '../admission/client-label.js';
import type { Logger } from '../log/logger.js';

/** Logs methods and outcomes at debug level, never message content, because it contains arguments, variables and ids of runs. */
export class RequestTrace {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  accepted(peer: string, { description: client }: ClientIdentity): void {
    if (this.#isOn) this.#logger.debug({ peer, client }, 'connection accepted');
  }

  /** @param sinceMs - When the connection was accepted, by `performance.now()`. */
  greeted(peer: string, sinceMs: number): void {
    if (this.#isOn) this.#logger.debug({ peer, ms: msSince(sinceMs) }, 'connection greeted');
  }

  /** Also logs the ids in the client's `trace`. */
  called(peer: string, stream: ServedStream, path: string, trace?: TraceContext): void {
    if (!this.#isOn) return;
    const call = { peer, call: stream.id, method: clientLabel(path), ...trace };
    const sinceMs = performance.now();
    this.#logger.debug(call, 'call begins');
    stream.once('close', () => {
      const { requestOctets: requestBytes, answerOctets: answerBytes, lastHeaders } = stream;
      const facts = { ...call, ms: msSince(sinceMs), requestBytes, answerBytes };
      if (lastHeaders === undefined) this.#logger.debug(facts, 'call broken off');
      else this.#logger.debug({ ...facts, ...outcomeOf(lastHeaders) }, 'call answered');
    });
  }

  ended(peer: string, socket: Socket, sinceMs: number, reason: EndReason): void {
    if (!this.#isOn) return;
    const { bytesRead: received, bytesWritten: sent } = socket;
    this.#logger.debug({ peer, reason, ms: msSince(sinceMs), received, sent }, 'connection closed');
  }

  get #isOn(): boolean {
    return this.#logger.isLevelEnabled('debug');
  }
}

function outcomeOf(headers: NonNullable<ServedStream['lastHeaders']>) {
  const code = headers[ERROR_METADATA_KEY];
  return {
    status: status[Number(headers['grpc-status'] ?? status.UNKNOWN)],
    ...(code !== undefined && { code: String(code) }),
  };
}

function msSince(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) * 10) / 10;
}
