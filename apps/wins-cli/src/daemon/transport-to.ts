import type { DaemonAddress } from './daemon-address.js';
import { Http2Transport } from './http2-transport.js';
import { connectTrustedPipe } from './trusted-pipe.js';

/** Carries calls to a daemon whose pipe belongs to whom it should. */
export function transportTo({
  server,
  connectTimeoutMs: timeoutMs,
}: DaemonAddress): Http2Transport {
  return new Http2Transport((signal) => connectTrustedPipe(server, { timeoutMs, signal }));
}
