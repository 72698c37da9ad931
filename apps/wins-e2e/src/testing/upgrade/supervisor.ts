import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { until } from '../process-table.js';

/** Longer than the pause between two looks at the service: an upgrade then sees that its program has ended. */
const DEFAULT_RESTART_MS = 300;

type State = 'running' | 'stopped' | 'paused' | 'pending';
interface Request {
  readonly do: 'query' | 'start' | 'stop';
  readonly graceMs?: number;
}

/** Fakes Windows' service manager for one service: restarts the program after a failure, and answers requests on a socket. */
export class Supervisor implements AsyncDisposable {
  /** Overrides the reported state, for states that a process cannot have. */
  pretend: State | undefined;
  restartMs = DEFAULT_RESTART_MS;
  refuseStart = false;
  /** Socket of the daemon. As on Windows, a start fails if the daemon exits before this socket exists. If undefined, a start never fails. */
  servesAt: string | undefined;
  readonly started: string[] = [];
  readonly #server: Server;
  #child: ChildProcess | undefined;
  #wanted = false;
  #restart: NodeJS.Timeout | undefined;
  #output = '';

  readonly #environment: NodeJS.ProcessEnv;

  private constructor(
    readonly definition: string,
    environment: NodeJS.ProcessEnv,
  ) {
    this.#environment = environment;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
  }

  static async open(definition: string, environment: NodeJS.ProcessEnv): Promise<Supervisor> {
    const supervisor = new Supervisor(definition, environment);
    rmSync(`${definition}.control`, { force: true });
    supervisor.#server.listen(`${definition}.control`);
    await once(supervisor.#server, 'listening');
    return supervisor;
  }

  get command(): readonly [string, ...string[]] {
    const { command } = JSON.parse(readFileSync(this.definition, 'utf8')) as { command: string };
    const quoted = /^"([^"]+)"(.*)$/.exec(command);
    const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    const ends = [...command.matchAll(/ |$/g)].map(({ index }) => index);
    const end = ends.find((at) => isFile(command.slice(0, at))) ?? 0;
    const [program, rest] =
      quoted === null
        ? [command.slice(0, end), command.slice(end)]
        : [quoted[1] ?? '', quoted[2] ?? ''];
    const words = [...rest.matchAll(/"([^"]*)"|\S+/g)].map(([word, inner]) => inner ?? word);
    return [program, ...words];
  }

  get state(): State {
    return this.#child === undefined ? 'stopped' : 'running';
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get said(): string {
    return this.#output;
  }

  start(): void {
    this.#wanted = true;
    if (this.#child !== undefined) return;
    clearTimeout(this.#restart);
    const [program, ...args] = this.command;
    this.started.push([program, ...args].join(' '));
    const child = spawn(program, args, {
      env: this.#environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    child.stderr.on('data', (text: Buffer) => (this.#output += text.toString()));
    const ended = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#wanted) this.#restart = setTimeout(() => this.start(), this.restartMs);
    };
    child.once('exit', ended);
    child.once('error', ended);
  }

  async stop(graceMs: number): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined) return;
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    clearTimeout(timer);
  }

  async powerCycle(): Promise<void> {
    await this.stop(0);
    this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
    this.#server.close();
  }

  #serve(socket: Socket): void {
    let text = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.endsWith('\n')) return;
      void this.#answer(JSON.parse(text) as Request).then((answer) => {
        socket.end(`${JSON.stringify(answer)}\n`);
      });
    });
    socket.on('end', () => socket.end());
  }

  async #answer({ do: what, graceMs = 0 }: Request): Promise<object> {
    if (what === 'start') {
      if (this.refuseStart) return { error: 'the service manager refuses to start it' };
      const { servesAt } = this;
      if (servesAt !== undefined && this.#child === undefined) rmSync(servesAt, { force: true });
      this.start();
      const child = this.#child;
      const hasEnded = (): boolean => child?.exitCode !== null || child.signalCode !== null;
      if (servesAt !== undefined) await until(() => hasEnded() || existsSync(servesAt));
      if (servesAt !== undefined && hasEnded()) {
        await this.stop(0);
        return { error: 'its program ended' };
      }
    }
    if (what === 'stop') {
      this.pretend = undefined;
      await this.stop(graceMs);
    }
    return { state: this.pretend ?? this.state, pid: this.pid };
  }
}
