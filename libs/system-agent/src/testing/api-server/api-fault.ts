import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** A request as the double got it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: Buffer;
}

/** Fault in place of an answer. `proceed` gives the answer that the double would have given. */
export type ApiFault = (request: ApiRequest, response: ServerResponse, proceed: () => void) => void;

/** Takes the request, and says nothing for ever. */
export const silent: ApiFault = () => undefined;

/** Ends the connection without an answer. */
export const reset: ApiFault = (_request, response) => void response.socket?.destroy();

/** Carries out the request, and applies another fault in place of the answer. */
export function unanswered(instead: ApiFault): ApiFault {
  return (request, response, proceed) => {
    response.end = () => response;
    proceed();
    instead(request, response, proceed);
  };
}

/** Answers that the connection is for another protocol from now on. */
export const upgrade: ApiFault = (_request, response) =>
  void response.socket?.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  );

/** Answers, and ends the connection after so many bytes of the body. */
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

/** Answers, byte by byte, each in a packet of its own. */
export const slow: ApiFault = (_request, response, proceed) => {
  response.socket?.setNoDelay(true);
  onBody(response, (chunk, left) => {
    for (const byte of chunk) left.write(Buffer.from([byte]));
  });
  proceed();
};

/** Answers with these bytes. */
export function answer(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
): ApiFault {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Answers with one line that does not end, as fast as the client takes it. */
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

/** Puts something between the routes and the body of their answer. */
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
