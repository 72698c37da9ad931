import { replaceFile } from '@wins/trusted-files';
import { DetachedProcess, killProcess, processOf } from '@wins/base/testing';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { ServiceCommand } from '../decide/install-record.js';
import type { CsiProxyService, ServiceFacts } from '../csi-proxy-port.js';

interface Definition {
  readonly command: ServiceCommand;
  readonly isDisabled: boolean;
}

/** Fakes the csi-proxy service. A file holds its definition, and a detached process serves the socket that `CSI_PROXY_PIPE` names. */
export class LinuxService implements CsiProxyService {
  readonly name = 'csiproxy';
  readonly #file: string;
  readonly #process: DetachedProcess;
  readonly pipe: string;

  /** @param file - Absolute path in an existing folder. */
  constructor(file: string) {
    this.#file = file;
    this.#process = new DetachedProcess(`${file}.pid`);
    this.pipe = `${file}.pipe`;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  query(): Promise<ServiceFacts | undefined> {
    const definition = this.#read();
    return Promise.resolve(definition && { ...definition, isRunning: this.pid !== undefined });
  }

  async create(command: ServiceCommand): Promise<void> {
    if (this.#read() !== undefined) throw new Error('it exists already');
    await this.#write({ command, isDisabled: false });
  }

  async setCommand(command: ServiceCommand): Promise<void> {
    await this.#write({ ...this.#known(), command });
  }

  async start(): Promise<void> {
    const { program: file, args } = this.#known().command;
    if (this.pid !== undefined) return;
    const environment = { PATH: process.env['PATH'], CSI_PROXY_PIPE: this.pipe };
    await this.#process.start({ file, args, environment }, 0);
  }

  stop(graceMs: number): Promise<void> {
    return this.#process.stop(graceMs);
  }

  async endLeftovers(program: string): Promise<void> {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const found = runsProgram(pid, program) ? processOf(Number(pid)) : undefined;
      if (found !== undefined) await killProcess(found);
    }
  }

  remove(): Promise<void> {
    for (const file of [this.#file, `${this.#file}.pid`]) rmSync(file, { force: true });
    return Promise.resolve();
  }

  async isServing(): Promise<boolean> {
    const socket = connect(this.pipe);
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }

  #read(): Definition | undefined {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Definition;
    } catch {
      return undefined;
    }
  }

  #known(): Definition {
    const definition = this.#read();
    if (definition === undefined) throw new Error('there is no such service');
    return definition;
  }

  async #write(definition: Definition): Promise<void> {
    await replaceFile(this.#file, JSON.stringify(definition));
  }
}

/** Compares the first two words, because a script's command line starts with its interpreter. */
function runsProgram(pid: string, program: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.slice(0, 2).includes(program);
  } catch {
    return false;
  }
}
