export interface StubBehaviour {
  /** The stub's answer, by which a spec recognises it. */
  readonly mark: string;
  /** Whether the stub opens the pipe. Default true. */
  readonly serves?: boolean;
  /** Whether the stub exits on SIGTERM. Default false, because the real csi-proxy keeps running when its service stops. */
  readonly stops?: boolean;
}

export function stubProgram({ mark, serves = true, stops = false }: StubBehaviour): string {
  return `#!${process.execPath}
'use strict';
const mark = ${JSON.stringify(mark)};
const net = require('node:net');
const fs = require('node:fs');
const pipe = process.env.CSI_PROXY_PIPE;
${stops ? '' : "process.on('SIGTERM', () => undefined);"}
setInterval(() => undefined, 1e8);
const listen = () => {
  const server = net.createServer((socket) => {
    // A client that only checks for the pipe closes the connection at once.
    socket.on('error', () => undefined);
    socket.end(mark);
  });
  server.once('error', () => {
    const probe = net.connect(pipe);
    // Does not touch a pipe that another process serves.
    probe.once('connect', () => process.exit(1));
    probe.once('error', () => { fs.rmSync(pipe, { force: true }); listen(); });
  });
  server.listen(pipe);
};
${serves ? 'listen();' : ''}
`;
}
