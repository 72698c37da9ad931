import { DetachedProcess } from '@wins/base/testing';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';

interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/** Simulates the Windows service csiproxy. `file` contains its command; `wins` finds `file` by `WINS_CSI_PROXY_SERVICE`. */
export class CsiService {
  readonly #process: DetachedProcess;
  readonly #pipe: string;

  constructor(readonly file: string) {
    this.#process = new DetachedProcess(`${file}.pid`);
    this.#pipe = `${file}.pipe`;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Undefined when the service does not exist. */
  get command(): Command | undefined {
    if (!existsSync(this.file)) return undefined;
    return (JSON.parse(readFileSync(this.file, 'utf8')) as { readonly command: Command }).command;
  }

  async start(command: Command): Promise<void> {
    writeFileSync(this.file, JSON.stringify({ command, isDisabled: false }));
    const { program: file, args } = command;
    const environment = { PATH: process.env['PATH'], CSI_PROXY_PIPE: this.#pipe };
    await this.#process.start({ file, args, environment }, 0);
  }

  async isServing(): Promise<boolean> {
    const socket = connect(this.#pipe);
    return once(socket, 'connect')
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  }

  stop(): Promise<void> {
    return this.#process.stop(0);
  }
}

/**
 * Returns the source of a program that listens on the pipe like csi-proxy.
 *
 * @param mark - Makes the program different from others.
 * @param stops - Whether it exits on SIGTERM; the real csi-proxy does not.
 */
export function csiProgram(mark: string, stops = false): string {
  return `#!${process.execPath}
// ${mark}
const pipe = process.env.CSI_PROXY_PIPE;
${stops ? '' : "process.on('SIGTERM', () => undefined);"}
require('node:fs').rmSync(pipe, { force: true });
require('node:net').createServer((socket) => socket.on('error', () => undefined).end()).listen(pipe);
`;
}
