import {
  type Effects,
  formatServiceCommand,
  parseServiceCommand,
  readText,
  type ServiceCommand,
  type ServiceControl,
  type ServiceState,
  type ServiceStatus,
  UpgradeError,
  type UpgradeLock,
} from '@wins/service-upgrade';
import { posixFileTrust } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { listenPipe, PipeError } from '@wins/pipe-transport';
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';

const LIMIT_BYTES = 64 * 1024;
const STATES: ReadonlySet<unknown> = new Set<ServiceState>([
  'running',
  'stopped',
  'paused',
  'pending',
]);

/** What a supervisor is asked; it answers with one line of JSON: a {@link SupervisorAnswer}. */
export type SupervisorRequest =
  { readonly do: 'query' | 'start' } | { readonly do: 'stop'; readonly graceMs: number };

/** The state after the request and the process, if the supervisor tells it; or why it failed. */
export type SupervisorAnswer = Pick<ServiceStatus, 'state' | 'pid'> | { readonly error: string };

/**
 * A service of systems without a service manager of their own: a file that holds its command line, as Windows keeps it, and a
 * supervisor that starts what the file names, listens on `<file>.control`, and starts it again when it fails.
 */
export class SupervisedService implements ServiceControl {
  readonly #effects: Effects;
  readonly defaultTarget: string;

  /** @param name - The file: `{"command": "…"}`, an absolute path. */
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
    this.#requireOwnFile();
    const command = parseDefinition(text);
    if (command === undefined) throw this.#failure('read', 'found no command line in it');
    return { command, ...(await this.#ask({ do: 'query' })) };
  }

  async setCommand(command: ServiceCommand): Promise<void> {
    const text = `${JSON.stringify({ command: formatServiceCommand(command) })}\n`;
    try {
      await this.#effects.write(this.name, text);
    } catch (error) {
      throw this.#failure('register', messageOf(error), error);
    }
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

  async lock(): Promise<UpgradeLock | undefined> {
    try {
      return await this.#effects.once('lock', () =>
        listenPipe(`${this.name}.lock`, { onConnection: (socket) => socket.destroy() }),
      );
    } catch (error) {
      if (error instanceof PipeError && error.code === 'inUse') return undefined;
      if (error instanceof PipeError && error.code === 'notFound') {
        const found = 'there is no such service, and no folder for one';
        throw new UpgradeError('refused', `cannot upgrade the service ${this.name}: ${found}`);
      }
      throw this.#failure('lock', messageOf(error), error);
    }
  }

  /** Who can write the file decides what the system runs. */
  #requireOwnFile(): void {
    const distrust = posixFileTrust().distrustOfFile(this.name, { followLinks: true });
    if (distrust !== undefined)
      throw this.#failure('trust', `of ${distrust.path}: ${distrust.found}`);
  }

  #ask(request: SupervisorRequest): Promise<Pick<ServiceStatus, 'state' | 'pid'>> {
    return new Promise((resolve, reject) => {
      const fail = (found: string, cause?: unknown): void =>
        reject(this.#failure(request.do, found, cause));
      const socket = connect(`${this.name}.control`);
      let text = '';
      socket.setEncoding('utf8');
      socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
      socket.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > LIMIT_BYTES) socket.destroy();
      });
      socket.on('error', (error) =>
        fail(`its supervisor does not answer: ${error.message}`, error),
      );
      socket.on('close', () => {
        const answer = parseAnswer(text);
        if (answer === undefined) fail('its supervisor gave no answer');
        else if ('error' in answer) fail(answer.error);
        else resolve(answer);
      });
    });
  }

  #failure(tried: string, found: string, cause?: unknown): UpgradeError {
    const message = `cannot ${tried} the service ${this.name}: ${found}`;
    return new UpgradeError('serviceFailed', message, { cause });
  }
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the text of a definition; undefined when it names no program. */
export function parseDefinition(text: string): ServiceCommand | undefined {
  const command = parseJson(text)?.['command'];
  if (typeof command !== 'string') return undefined;
  return parseServiceCommand(
    command,
    (file) => statSync(file, { throwIfNoEntry: false }) !== undefined,
  );
}

function parseAnswer(text: string): SupervisorAnswer | undefined {
  const answer = parseJson(text);
  if (typeof answer?.['error'] === 'string') return { error: answer['error'] };
  if (!STATES.has(answer?.['state'])) return undefined;
  const pid = answer?.['pid'];
  return { state: answer?.['state'] as ServiceState, ...(typeof pid === 'number' && { pid }) };
}
