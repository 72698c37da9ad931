import { replaceFile } from '@wins/trusted-files';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceCommand } from '../decide/install-record.js';
import type { CsiProxyService, ServiceFacts } from '../ports.js';

const LOOK_EVERY_MS = 10;

/** What the file of a service holds. */
interface Definition {
  readonly command: ServiceCommand;
  readonly isDisabled: boolean;
  /** The process that was started last, and when, in the ticks of the system. */
  readonly pid?: number;
  readonly started?: string;
}

/**
 * The service of csi-proxy on Linux, for tests and demonstrations: a file holds its words, its process is a real one that outlives whoever started
 * it, and a socket is the pipe, which the process finds in the variable `CSI_PROXY_PIPE`.
 */
export class StandInService implements CsiProxyService {
  readonly name = 'csiproxy';
  readonly #file: string;
  /** Where the program serves. */
  readonly pipe: string;

  /** @param file - An absolute path in a folder that exists. */
  constructor(file: string) {
    this.#file = file;
    this.pipe = `${file}.pipe`;
  }

  /** The process of the service; undefined while it does not run. */
  get pid(): number | undefined {
    const definition = this.#read();
    return definition && isAlive(definition) ? definition.pid : undefined;
  }

  query(): Promise<ServiceFacts | undefined> {
    const definition = this.#read();
    if (definition === undefined) return Promise.resolve(undefined);
    const { command, isDisabled } = definition;
    return Promise.resolve({ command, isDisabled, isRunning: isAlive(definition) });
  }

  async create(command: ServiceCommand): Promise<void> {
    if (this.#read() !== undefined) throw new Error('it exists already');
    await this.#write({ command, isDisabled: false });
  }

  async setCommand(command: ServiceCommand): Promise<void> {
    await this.#write({ ...this.#known(), command });
  }

  /** As an administrator does it. */
  async disable(isDisabled = true): Promise<void> {
    await this.#write({ ...this.#known(), isDisabled });
  }

  async start(): Promise<void> {
    const definition = this.#known();
    if (isAlive(definition)) return;
    const { program, args } = definition.command;
    const environment = { PATH: process.env['PATH'] ?? '', CSI_PROXY_PIPE: this.pipe };
    const child = spawn(program, [...args], { detached: true, stdio: 'ignore', env: environment });
    await once(child, 'spawn');
    child.unref();
    const { pid = 0 } = child;
    const { command, isDisabled } = definition;
    const started = startOf(pid);
    await this.#write({ command, isDisabled, pid, ...(started !== undefined && { started }) });
  }

  async stop(graceMs: number): Promise<void> {
    const definition = this.#read();
    if (definition === undefined || !isAlive(definition)) return;
    await endOf(definition, graceMs);
  }

  async endLeftovers(program: string): Promise<void> {
    for (const pid of processesOf(program)) {
      const started = startOf(pid);
      if (started !== undefined) await endOf({ pid, started }, 0);
    }
  }

  remove(): Promise<void> {
    rmSync(this.#file, { force: true });
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

interface Started {
  readonly pid?: number;
  readonly started?: string;
}

async function endOf(process_: Started, graceMs: number): Promise<void> {
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (process_.pid !== undefined) process.kill(process_.pid, name);
    } catch {
      // It has ended by itself.
    }
  };
  signal(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
  const endMs = performance.now() + graceMs;
  while (isAlive(process_)) {
    if (performance.now() >= endMs) signal('SIGKILL');
    await delay(LOOK_EVERY_MS);
  }
}

/** A number is given again, and then the time differs. */
function isAlive({ pid, started }: Started): boolean {
  return pid !== undefined && started !== undefined && startOf(pid) === started;
}

/** When a process was started; undefined for one that has ended, whether or not anyone has asked how. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function processesOf(program: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
          .split('\0')
          .slice(0, 2)
          .includes(program);
      } catch {
        return false;
      }
    });
}
