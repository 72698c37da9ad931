import { once } from 'node:events';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';

/** Sends an HTTP request to a published port, and returns the answer once its headers have come. */
export async function ask(port: number, path: string, options: RequestOptions = {}, body?: string) {
  const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => undefined); // the response reports the error too
  return answer;
}

export async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}
