/** How a stub of csi-proxy behaves. */
export interface StubBehaviour {
  /** Makes two stubs different programs. */
  readonly mark: string;
  /** Whether it opens the pipe. Default true. */
  readonly serves?: boolean;
  /** Whether it ends when it is asked to, as the real one does not. Default false. */
  readonly stops?: boolean;
}

/** The script of a stub for `LinuxService`: it serves the pipe, and lives on when it is asked to stop. */
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
    // Who only looks whether it is there hangs up at once.
    socket.on('error', () => undefined);
    socket.end(mark);
  });
  server.once('error', () => {
    const probe = net.connect(pipe);
    // A pipe that another process serves stays its own.
    probe.once('connect', () => process.exit(1));
    probe.once('error', () => { fs.rmSync(pipe, { force: true }); listen(); });
  });
  server.listen(pipe);
};
${serves ? 'listen();' : ''}
`;
}
