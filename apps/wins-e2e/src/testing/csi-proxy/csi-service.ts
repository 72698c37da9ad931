import { DetachedProcess } from '@wins/base/testing';
import type { FolderSystem } from '@wins/installation/testing';
import { parseServiceCommand } from '@wins/service-upgrade';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';

const NAME = 'csiproxy';

interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/** Simulates the Windows service csiproxy in a folder, which `wins` finds by `WINS_CSI_PROXY_SERVICE`. */
export class CsiService {
  readonly #process: DetachedProcess;
  readonly #pipe: string;
  readonly #file: string;

  constructor(readonly folder: string) {
    this.#process = new DetachedProcess(path.join(folder, `${NAME}.pid`));
    this.#pipe = path.join(folder, 'pipe');
    this.#file = path.join(folder, 'system.json');
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Undefined when the service does not exist. */
  get command(): Command | undefined {
    if (!existsSync(this.#file)) return undefined;
    const { services } = JSON.parse(readFileSync(this.#file, 'utf8')) as FolderSystem;
    const { imagePath, args } = parseServiceCommand(services[NAME]?.command ?? '') ?? {};
    return imagePath === undefined || args === undefined ? undefined : { program: imagePath, args };
  }

  async start({ program, args }: Command): Promise<void> {
    mkdirSync(this.folder, { recursive: true });
    const command = [`"${program}"`, ...args].join(' ');
    const service = { command, startType: 'automatic', dependencies: [], environment: {} } as const;
    const system: FolderSystem = { services: { [NAME]: service }, things: {} };
    writeFileSync(this.#file, JSON.stringify(system));
    const environment = { PATH: process.env['PATH'], CSI_PROXY_PIPE: this.#pipe };
    await this.#process.start({ file: program, args, environment }, 0);
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
