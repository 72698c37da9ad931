import { addAbortListener, type Abortable } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { NetError } from '../net-error.js';
import type { TlsTrust } from '../trust/tls-trust.js';
import {
  handshake,
  openVerified,
  RefusedCertificate,
  refusalOf,
} from '../trust/verified-connection.js';
import { basicAuthorization } from './basic-authorization.js';
import { shownUrl } from './foreign-text.js';
import { judgeRedirect, type RedirectRule } from './judge-redirect.js';
import { bareHost, NEXT_ADDRESS_MS, portOf } from './open-connection.js';
import { MAX_HEAD_BYTES } from './send-request.js';

/** Request of {@link askStatus}. */
export interface StatusRequest {
  /** A user and password in this URL are also sent to the targets of redirects. */
  readonly url: URL;
  readonly trust: TlsTrust;
  readonly userAgent: string;
  readonly redirects: RedirectRule;
  readonly maxRedirects: number;
}

interface StatusAnswer {
  readonly status: number;
  readonly location: string | undefined;
}

/** An answer with a body of this size counts as complete, even if more follows. */
const MAX_BODY_BYTES = 10 * 1024;

const ADDRESSES = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
};

/**
 * Follows redirects and resolves with the final status, or with undefined if no complete answer arrives. Uses no proxy, and opens a new
 * connection for each request, because a kept one does not show that the server still accepts connections. `timeoutMs` limits all requests
 * together. Default: no limit. @throws NetError `aborted`.
 */
export async function askStatus(
  request: StatusRequest,
  { signal, timeoutMs }: Abortable & { readonly timeoutMs?: number | undefined } = {},
): Promise<number | undefined> {
  const ends = signal === undefined ? [] : [signal];
  if (timeoutMs !== undefined) ends.push(AbortSignal.timeout(timeoutMs));
  const until = AbortSignal.any(ends);
  const authorization = basicAuthorization(request.url);
  const secrets = authorization === undefined ? [] : [authorization.replace(/^\w+ +/, '')];
  const { redirects: rule, maxRedirects } = request;
  let from = new URL(request.url);
  [from.username, from.password] = ['', ''];
  for (let count = 0; ; count += 1) {
    const answer = until.aborted ? undefined : await ask(from, request, authorization, until);
    if (answer === undefined) {
      if (signal?.aborted === true) throw abortedBy(signal, from);
      return undefined;
    }
    const { status, location } = answer;
    const verdict = judgeRedirect({ from, status, location, count, maxRedirects, rule, secrets });
    if (verdict === undefined) return status;
    if (!('to' in verdict)) return undefined;
    from = verdict.to;
  }
}

function abortedBy({ reason }: AbortSignal, url: URL): NetError {
  const message = `cannot ask ${shownUrl(url)} for its status: it was aborted`;
  return new NetError('aborted', message, { cause: reason });
}

async function ask(
  url: URL,
  { trust, userAgent }: StatusRequest,
  authorization: string | undefined,
  signal: AbortSignal,
): Promise<StatusAnswer | undefined> {
  const common = {
    signal,
    agent: false,
    ...ADDRESSES,
    maxHeaderSize: MAX_HEAD_BYTES,
    headers: {
      'user-agent': userAgent,
      accept: '*/*',
      ...(authorization !== undefined && { authorization }),
    },
  };
  if (url.protocol === 'http:') return await answerTo(http.get(url, common));
  const server = { host: bareHost(url), port: portOf(url) };
  return await openVerified(trust, server, {
    open: ({ host: _, ...options }) => answerTo(https.get(url, { ...common, ...options })),
    examine: (options) => {
      const socket = tls.connect({ ...server, ...ADDRESSES, ...options });
      // With an error, because `handshake` waits for one.
      const listening = addAbortListener(signal, () => socket.destroy(new Error('aborted')));
      socket.on('error', () => undefined).once('close', () => listening[Symbol.dispose]());
      return handshake(socket);
    },
  }).catch(() => undefined);
}

/** Rejects for a refused certificate. Resolves with undefined after other failures. */
function answerTo(request: ClientRequest): Promise<StatusAnswer | undefined> {
  return new Promise((resolve, reject) => {
    request
      .on('response', (response: IncomingMessage) => {
        const { statusCode: status = 0, headers } = response;
        const done = (): void => {
          resolve({ status, location: headers.location });
          request.destroy();
        };
        // The body of a redirect is not read.
        if (status >= 300 && status <= 399) done();
        let bodyBytes = 0;
        response
          .on('data', ({ length }: Buffer) => {
            bodyBytes += length;
            if (bodyBytes >= MAX_BODY_BYTES) done();
          })
          .on('end', done)
          .on('error', () => undefined);
      })
      .on('error', (error) => {
        const { socket } = request;
        const refusal = socket instanceof tls.TLSSocket && refusalOf(socket, error);
        if (refusal instanceof RefusedCertificate) reject(refusal);
      })
      .on('close', () => resolve(undefined));
  });
}
