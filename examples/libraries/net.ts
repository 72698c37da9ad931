import { createServer } from 'node:http';
import { HttpClient, isNetError, proxyOf } from '@wins/net';

const environment = { HTTPS_PROXY: 'proxy.example:3128', NO_PROXY: '10.0.0.0/8,.internal' };
for (const server of ['https://registry.example', 'https://10.1.2.3:6443', 'https://a.internal'])
  console.log(proxyOf(new URL(server), environment));

// A server that is busy at the first request.
const answers = [503, 200];
const server = createServer((_, response) => response.writeHead(answers.shift() ?? 404).end('hi'));
await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)));
const { port } = server.address() as { port: number };

const onWarning = (message: string) => console.log(message);
const client = new HttpClient({ environment, onWarning, random: () => 1 });
const asked = { what: 'say hello', maxBytes: 1_000 };
const request = { url: new URL(`http://localhost:${port}`), trust: { roots: [] } };
const { body } = await client.askForBytes(request, asked);
console.log(body.toString());
try {
  await client.askForBytes(request, asked);
} catch (error) {
  if (isNetError(error)) console.log(error.code, error.status);
}
client.close();
server.close();
