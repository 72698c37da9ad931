import { connectPipe, listenPipe } from '@wins/pipe-transport';

const listener = await listenPipe('greeter', {
  onConnection: (connection) => connection.end('hello\n'),
});
const connection = await connectPipe('greeter', { waitTimeoutMs: 1000 });
for await (const chunk of connection) process.stdout.write(chunk as Buffer);
await listener.close();
