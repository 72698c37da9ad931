import { linuxClients } from '@wins/linux-host';
import { connectPipe, listenPipe } from '@wins/pipe-transport';
import { securedPipe, windowsClients } from '@wins/windows-host';

// A Unix socket is this user's alone; who may open a named pipe says an access list. Either system knows who connects.
const security = process.platform === 'win32' ? securedPipe() : undefined;
const listener = await listenPipe('greeter', {
  security,
  identify: security === undefined ? linuxClients() : windowsClients(security),
  onConnection: (connection, { description }) =>
    connection.end(description.pid === process.pid ? 'hello, me\n' : 'hello\n'),
});
const connection = await connectPipe('greeter', { waitTimeoutMs: 1000 });
for await (const chunk of connection) process.stdout.write(chunk as Buffer);
await listener.close();
