import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { proofOf } from '../trust/cattle-proof.js';
import type { RancherRequest } from './fault.js';

export interface RancherState {
  /** The body of `/cacerts`. */
  readonly caCerts: string;
  /** Registration tokens; the server can prove that it knows them. */
  readonly tokens: readonly string[];
  /** Bootstrap tokens of machines. The server accepts them like `tokens`, but cannot prove in `/cacerts` that it knows them. */
  readonly machineTokens: readonly string[];
  /** The answer of `/v3/connect/agent`. */
  readonly connectionInfo: unknown;
  /** Files below `/assets`, by name. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

const DASHBOARD =
  '<!DOCTYPE html>\n<html><head><title>Rancher</title></head><body></body></html>\n';

export function route(
  { path, headers }: RancherRequest,
  response: ServerResponse,
  state: RancherState,
): void {
  const { pathname } = new URL(path, 'https://rancher.invalid');
  const text = (status: number, body: string, more: Record<string, string> = {}) =>
    void response.writeHead(status, { 'content-type': 'text/plain', ...more }).end(body);
  const shown = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];

  if (pathname === '/cacerts') {
    const nonce = headers['x-cattle-nonce'];
    const isHashOf = (token: string) =>
      createHash('sha256').update(token).digest('base64') === shown;
    const token = state.tokens.find(isHashOf);
    const hash =
      token !== undefined && typeof nonce === 'string'
        ? proofOf(token, nonce, Buffer.from(state.caCerts))
        : undefined;
    text(200, state.caCerts, hash && { 'x-cattle-hash': hash.toString('base64') });
  } else if (pathname === '/healthz') text(200, 'ok');
  else if (pathname === '/ping') text(200, 'pong');
  else if (pathname === '/v3/connect/agent') {
    const isKnown =
      shown !== undefined && [...state.tokens, ...state.machineTokens].includes(shown);
    if (headers['x-cattle-id'] === undefined) response.writeHead(401).end();
    else if (!isKnown) text(500, 'machine not found by request\n');
    else {
      const body = `${JSON.stringify(state.connectionInfo, undefined, 2)}\n`;
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }
  } else {
    const asset = state.assets.get(pathname.replace(/^\/assets\//, ''));
    // Rancher sends its dashboard for unknown paths.
    if (asset === undefined) text(200, DASHBOARD, { 'content-type': 'text/html; charset=utf-8' });
    else
      response
        .writeHead(200, {
          'content-type': 'application/octet-stream',
          'content-length': asset.length,
        })
        .end(asset);
  }
}
