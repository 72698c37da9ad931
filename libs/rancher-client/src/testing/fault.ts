import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** A request as the double got it. */
export interface RancherRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Server name that the client sent in its handshake (SNI); undefined for none. */
  readonly serverName: string | undefined;
}

/** Fault in place of an answer. `proceed` gives the answer that the double would have given. */
export type RancherFault = (
  request: RancherRequest,
  response: ServerResponse,
  proceed: () => void,
) => void;

/** Takes the request, and says nothing for ever. */
export const silent: RancherFault = () => undefined;

/** Answers with this. */
export function answer(
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain' },
): RancherFault {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Sends elsewhere. */
export function redirectTo(location: string, status = 302): RancherFault {
  return answer(status, '', { location });
}

/** Answers, and ends the connection after so many bytes, those of the head among them. */
export function cutAfter(bytes: number): RancherFault {
  return (_request, response, proceed) => {
    onBytes(response, (chunk, sent, write) => {
      const part = chunk.subarray(0, Math.max(bytes - sent, 0));
      const destroy = (): void => void response.socket?.destroy();
      if (sent + chunk.length < bytes) write(part);
      else if (part.length > 0) write(part, destroy);
      else destroy();
    });
    if (bytes === 0) response.socket?.destroy();
    else proceed();
  };
}

/** Answers byte by byte, each in a packet of its own. */
export const byteByByte: RancherFault = (_request, response, proceed) => {
  response.socket?.setNoDelay(true);
  onBytes(response, (chunk, _sent, write) => {
    for (const byte of chunk) write(Buffer.from([byte]));
  });
  proceed();
};

/** Begins an answer of 100 bytes and sends this beginning of it alone; the connection stays. */
export function stallAfter(beginning: string | Buffer): RancherFault {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': 100 + beginning.length });
    response.write(beginning);
  };
}

/** Sends a byte each so many milliseconds, without an end. */
export function drip(everyMs: number): RancherFault {
  return (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), everyMs);
    response.on('close', () => clearInterval(timer));
  };
}

/** Answers without an end, as fast as the client takes it. */
export function endless(headers: Readonly<Record<string, string>> = {}): RancherFault {
  return (_request, response) => {
    const block = Buffer.alloc(65_536, 'x');
    const more = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.writeHead(200, headers);
    response.on('drain', more);
    more();
  };
}

/** Sends a body whose end is that of the connection: without a length, so that nobody knows whether it is whole. */
export function withoutLength(body: string | Buffer): RancherFault {
  return (_request, response) => {
    const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n';
    response.socket?.end(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  };
}

/** Says that the connection is for another protocol from now on. */
export const upgrade: RancherFault = (_request, response) =>
  void response.socket?.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  );

/** Answers with something that is no HTTP. */
export const noHttp: RancherFault = (_request, response) =>
  void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');

type Write = (part: Buffer, done?: () => void) => void;

/** Puts something between an answer and its connection. */
function onBytes(
  { socket }: ServerResponse,
  take: (chunk: Buffer, sent: number, write: Write) => void,
): void {
  if (socket === null) return;
  const write = socket.write.bind(socket) as (part: Buffer, done?: () => void) => boolean;
  let sent = 0;
  socket.write = (chunk: string | Buffer, ...rest: unknown[]) => {
    const [encoding] = rest;
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : chunk;
    take(bytes, sent, (part, done) => void write(part, done));
    sent += bytes.length;
    return true;
  };
}
