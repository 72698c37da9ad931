import { listenPipe, PipeError } from '@wins/pipe-transport';
import {
  parseServiceCommand,
  readText,
  UpgradeError,
  type Effects,
  type ServiceCommand,
  type ServiceControl,
  type ServiceState,
  type ServiceStatus,
} from '@wins/service-upgrade';
import { posixFileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { connect } from 'node:net';
import path from 'node:path';
import { formatServiceCommand } from './format-service-command.js';

const LIMIT_BYTES = 64 * 1024;
const STATES: readonly unknown[] = ['running', 'stopped', 'paused', 'pending'];

/** The supervisor answers with one line of JSON: `error`, or `state` with the `pid` if it is known. */
type SupervisorRequest =
  | { readonly do: 'query' | 'start' }
  | { readonly do: 'stop'; readonly graceMs: number };

/**
 * Controls a service without a service manager. The service is a file with a command line in the syntax of Windows. A supervisor
 * runs the command, restarts it if it fails, and listens on `<file>.control`.
 */
export class SupervisedService implements ServiceControl {
  readonly #effects: Effects;
  readonly defaultTarget: string;

  /** @param name - Absolute path of a file with `{"command": "…"}`. */
  constructor(
    readonly name: string,
    effects: Effects,
  ) {
    this.#effects = effects;
    this.defaultTarget = path.join(path.dirname(name), 'wins');
  }

  async query(): Promise<ServiceStatus | undefined> {
    const text = await readText(this.name, LIMIT_BYTES);
    if (text === undefined) return undefined;
    // An account that can write the file decides which program runs.
    const distrust = posixFileTrust().distrustOfFile(this.name, { followLinks: true });
    if (distrust !== undefined)
      throw this.#failure('trust', `of ${distrust.path}: ${distrust.found}`);
    const { command: line } = fieldsOf(text);
    const command = typeof line === 'string' ? parseServiceCommand(line) : undefined;
    if (command === undefined) throw this.#failure('read', 'found no command line in it');
    return { command, ...(await this.#ask({ do: 'query' })) };
  }

  async setCommand(command: ServiceCommand): Promise<void> {
    const text = `${JSON.stringify({ command: formatServiceCommand(command) })}\n`;
    await this.#effects.write(this.name, text).catch((error: unknown) => {
      throw this.#failure('register', messageOf(error), error);
    });
  }

  remove(): Promise<void> {
    return this.#effects.remove('service', this.name);
  }

  async start(): Promise<void> {
    await this.#effects.once('start service', () => this.#ask({ do: 'start' }));
  }

  async stop(graceMs: number): Promise<void> {
    await this.#effects.once('stop service', () => this.#ask({ do: 'stop', graceMs }));
  }

  async lock(): Promise<AsyncDisposable | undefined> {
    try {
      return await this.#effects.once('lock', () => lockByPipe(`${this.name}.lock`));
    } catch (error) {
      if (error instanceof PipeError && error.code === 'notFound') {
        const found = 'there is no such service, and no folder for one';
        throw new UpgradeError('refused', `cannot upgrade the service ${this.name}: ${found}`);
      }
      throw this.#failure('lock', messageOf(error), error);
    }
  }

  async #ask(request: SupervisorRequest): Promise<Pick<ServiceStatus, 'state' | 'pid'>> {
    const socket = connect(`${this.name}.control`).setEncoding('utf8');
    socket.write(`${JSON.stringify(request)}\n`);
    let text = '';
    try {
      for await (const chunk of socket as AsyncIterable<string>)
        if ((text += chunk).length > LIMIT_BYTES) break;
    } catch (error) {
      const found = `its supervisor does not answer: ${messageOf(error)}`;
      throw this.#failure(request.do, found, error);
    }
    const { state, pid, error } = fieldsOf(text);
    if (typeof error === 'string') throw this.#failure(request.do, error);
    if (!STATES.includes(state)) throw this.#failure(request.do, 'its supervisor gave no answer');
    return { state: state as ServiceState, ...(typeof pid === 'number' && { pid }) };
  }

  #failure(tried: string, found: string, cause?: unknown): UpgradeError {
    const message = `cannot ${tried} the service ${this.name}: ${found}`;
    return new UpgradeError('serviceFailed', message, { cause });
  }
}

/** The lock is a socket, which the system closes when the process ends. Returns undefined while another process has the lock. */
export async function lockByPipe(address: string): Promise<AsyncDisposable | undefined> {
  try {
    return await listenPipe(address, { onConnection: (socket) => socket.destroy() });
  } catch (error) {
    if (error instanceof PipeError && error.code === 'inUse') return undefined;
    throw error;
  }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
