// Lets users of this host reach ports of its loopback, each those of his list: node bastion.mjs ADDRESS '{ "USER": [5432] }'
import { once } from 'node:events';
import { linuxClients } from '@wins/linux-host';
import { listenPipe, type ClientIdentity } from '@wins/pipe-transport';
import {
  createConnectLimits,
  serveTunnel,
  TunnelHandshakes,
  type ServerTunnel,
} from '@wins/tcp-tunnel';
import { securedPipe, windowsClients } from '@wins/windows-host';

const [, , address = 'bastion', list = '{}'] = process.argv;
const ports = new Map(Object.entries(JSON.parse(list) as Record<string, number[]>));
/** The system says who the client is: by user id on Linux, by account on Windows. */
const portsOf = ({ description: { uid, account } }: ClientIdentity): readonly number[] =>
  ports.get(String(uid ?? account)) ?? [];

const tunnels = new Set<ServerTunnel>();
const limits = createConnectLimits();
const handshakes = new TunnelHandshakes<ClientIdentity>({
  authorize: (_request, guest) => portsOf(guest).length > 0,
  opened: (webSocket, localConnection, guest, { clientName }) => {
    const tunnel = serveTunnel(webSocket, {
      localConnection,
      allowedPorts: portsOf(guest),
      maxStreams: 64,
      limits: limits.of(guest.key),
      onConnect: ({ allowed, rule, port }, isTold) => {
        const record = { at: new Date(), ...guest.description, clientName, port, allowed, rule };
        // Of many failures in a short time, only the first are recorded.
        if (isTold) console.log(JSON.stringify(record));
      },
    });
    tunnels.add(tunnel);
    void tunnel.closed.then(() => tunnels.delete(tunnel));
  },
});

const security = process.platform === 'win32' ? securedPipe() : undefined;
const listener = await listenPipe(address, {
  security,
  identify: security === undefined ? linuxClients() : windowsClients(security),
  onConnection: (socket, client) => handshakes.begin(socket, client),
});
console.log('ready');

await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
handshakes.refuse();
await Promise.all([...tunnels].map((tunnel) => tunnel.drain()));
await listener.close();
