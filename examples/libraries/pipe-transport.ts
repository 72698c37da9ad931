import { linuxClients } from '@wins/linux-host';
import { connectPipe, listenPipe } from '@wins/pipe-transport';
import { securedPipe, windowsClients } from '@wins/windows-host';

// On Linux, only this user may open the socket; on Windows, an access list guards the pipe. Both systems identify the client.
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
