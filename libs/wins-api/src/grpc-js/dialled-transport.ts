import type { ChannelOptions } from '@grpc/grpc-js';
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js';
import type { Socket } from 'node:net';

/**
 * Opens a connection to the daemon and resolves with it once the other side is known to be who it should be; nothing was sent
 * or read. Rejects when there is no such connection, and when the signal is aborted, as `close()` of the client does. The caller
 * closes the result.
 */
export type ConnectDaemon = (signal: AbortSignal) => Promise<Socket>;

type TcpConnect = (this: unknown, address: unknown, options: ChannelOptions) => Promise<Socket>;

type Dial = () => Promise<Socket>;

const DIAL_OPTION = 'wins.dial';

// grpc-js has no place for a socket of ours, and one that it opens itself cannot be made so that it gives its server nothing
// before it is judged: on Windows the server of a pipe may act in the name of its client unless the client opened it otherwise.
const transport = Http2SubchannelConnector.prototype as unknown as { tcpConnect: TcpConnect };
const ownConnect = transport.tcpConnect;
transport.tcpConnect = function (address, options) {
  const dial = options[DIAL_OPTION] as Dial | undefined;
  return dial === undefined ? ownConnect.call(this, address, options) : dial();
};

/** Options of a channel whose connections come from `dial` alone, whatever its address is. */
export function dialOptions(dial: Dial): ChannelOptions {
  return { [DIAL_OPTION]: dial };
}
