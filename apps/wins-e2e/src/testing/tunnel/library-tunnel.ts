import { openTunnel, webSocketClientOptions } from '@wins/tcp-tunnel';
import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Opens a tunnel by the library, in the process of the test: no port listens.
 *
 * @param clientName - What the client calls itself.
 */
export async function openLibraryTunnel(tunnelAddress: string, clientName: string) {
  const webSocket = new WebSocket(`ws+unix:${tunnelAddress}:/`, {
    ...webSocketClientOptions({ localEndpoint: true }),
    headers: { 'rancher-wins-cli-proxy': clientName },
  });
  await once(webSocket, 'open');
  return openTunnel(webSocket);
}
