import type { ChannelOptions } from '@grpc/grpc-js';
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js';
import type { Socket } from 'node:net';

type TcpConnect = (this: unknown, address: unknown, options: ChannelOptions) => Promise<Socket>;

type Dial = () => Promise<Socket>;

const DIAL_OPTION = 'wins.dial';

// grpc-js cannot use an existing socket. A socket that it opens itself is unsafe until the server is verified: on
// Windows a pipe server may impersonate its client unless the client forbids that when it opens the pipe.
const transport = Http2SubchannelConnector.prototype as unknown as { tcpConnect: TcpConnect };
const ownConnect = transport.tcpConnect;
transport.tcpConnect = function (address, options) {
  const dial = options[DIAL_OPTION] as Dial | undefined;
  return dial === undefined ? ownConnect.call(this, address, options) : dial();
};

/** Makes a channel get every connection from `dial`, whatever the channel's address is. */
export function dialOptions(dial: Dial): ChannelOptions {
  return { [DIAL_OPTION]: dial };
}
