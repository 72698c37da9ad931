import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: Buffer;
}

/** Replaces an answer; `proceed` sends the normal one. */
export type ApiFault = (request: ApiRequest, response: ServerResponse, proceed: () => void) => void;

export const silent: ApiFault = () => undefined;

/** Ends the connection without an answer. */
export const reset: ApiFault = (_request, response) => void response.socket?.destroy();

/** Carries out the request, then applies another fault instead of answering. */
export function unanswered(instead: ApiFault): ApiFault {
  return (request, response, proceed) => {
    response.end = () => response;
    proceed();
    instead(request, response, proceed);
  };
}

export const upgrade: ApiFault = (_request, response) =>
  void response.socket?.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  );

/** Cuts the connection after this many bytes of the normal body. */
export function resetAfter(bytes: number): ApiFault {
  return (_request, response, proceed) => {
    onBody(response, (chunk, left) => {
      const part = chunk.subarray(0, bytes - left.sent);
      left.sent += part.length;
      left.write(part, () => {
        if (left.sent >= bytes) response.socket?.destroy();
      });
    });
    proceed();
  };
}

/** Sends each byte of the normal answer in its own packet. */
export const slow: ApiFault = (_request, response, proceed) => {
  response.socket?.setNoDelay(true);
  onBody(response, (chunk, left) => {
    for (const byte of chunk) left.write(Buffer.from([byte]));
  });
  proceed();
};

export function answer(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
): ApiFault {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Sends one endless line, as fast as the client reads. */
export const endless: ApiFault = (_request, response) => {
  const block = Buffer.alloc(65_536, 'x');
  const more = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('drain', more);
  more();
};

interface BodyWriter {
  sent: number;
  write(part: Buffer, done?: () => void): void;
}

/** Passes the response's body to `take` instead of sending it. */
function onBody(response: ServerResponse, take: (chunk: Buffer, to: BodyWriter) => void): void {
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  const to: BodyWriter = { sent: 0, write: (part, done) => void write(part, () => done?.()) };
  response.write = (chunk: string | Buffer) => {
    take(Buffer.from(chunk as string), to);
    return true;
  };
  response.end = ((chunk?: string | Buffer) => {
    if (chunk !== undefined) take(Buffer.from(chunk as string), to);
    return end();
  }) as typeof response.end;
}
