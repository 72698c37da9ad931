import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

export interface RancherRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Server name of the handshake (SNI). */
  readonly serverName: string | undefined;
}

/** Replaces an answer; `proceed` sends the normal one. */
export type RancherFault = (
  request: RancherRequest,
  response: ServerResponse,
  proceed: () => void,
) => void;

export const silent: RancherFault = () => undefined;

export function answer(
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain' },
): RancherFault {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

export function redirectTo(location: string, status = 302): RancherFault {
  return answer(status, '', { location });
}

/** @param bytes - How many to send, including the headers. */
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

/** Sends each byte of the normal answer in its own packet. */
export const byteByByte: RancherFault = (_request, response, proceed) => {
  response.socket?.setNoDelay(true);
  onBytes(response, (chunk, _sent, write) => {
    for (const byte of chunk) write(Buffer.from([byte]));
  });
  proceed();
};

/** Never sends the last 100 bytes; the connection stays open. */
export function stallAfter(beginning: string | Buffer): RancherFault {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': 100 + beginning.length });
    response.write(beginning);
  };
}

/** Sends one byte at a time, without end. */
export function drip(everyMs: number): RancherFault {
  return (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), everyMs);
    response.on('close', () => clearInterval(timer));
  };
}

/** Sends as fast as the client reads. */
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

/** Sends no length, so that nothing reveals a truncated body. */
export function withoutLength(body: string | Buffer): RancherFault {
  return (_request, response) => {
    const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n';
    response.socket?.end(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  };
}

export const upgrade: RancherFault = (_request, response) =>
  void response.socket?.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  );

export const noHttp: RancherFault = (_request, response) =>
  void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');

type Write = (part: Buffer, done?: () => void) => void;

/** Passes an answer's bytes to `take` instead of the connection. */
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
