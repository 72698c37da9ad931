import {
  endService,
  lockFile,
  serviceControlManager,
  startServiceProcess,
  unlessFails,
  WindowsError,
  windowsFolder,
} from '@wins/windows-host';
import path from 'node:path';
import {
  ensurePrivateFolder,
  findPaths,
  isSameCommand,
  parseServiceCommand,
  runProgram,
  type ServiceCommand,
  type ServiceControl,
  type ServiceStatus,
  UpgradeError,
  type UpgradeContext,
} from '@wins/service-upgrade';
import { SERVICE_NAME } from '@wins/base';

const END_MS = 10_000;
const REGISTER_MS = 30_000;

export class WindowsServiceControl implements ServiceControl {
  readonly #services = serviceControlManager();
  readonly #upgrade: Pick<UpgradeContext, 'effects' | 'host'>;
  readonly #defaultTarget: string | undefined;

  /** `defaultTarget` defaults to the path that the Go release's installer uses. */
  constructor(
    readonly name: string,
    upgrade: Pick<UpgradeContext, 'effects' | 'host'>,
    defaultTarget?: string,
  ) {
    this.#upgrade = upgrade;
    this.#defaultTarget = defaultTarget;
  }

  get defaultTarget(): string {
    if (this.#defaultTarget !== undefined) return this.#defaultTarget;
    const folder = windowsFolder();
    if (folder !== undefined) return path.win32.join(folder, 'wins.exe');
    throw this.#failure('locate', 'the registry does not say where Windows is installed');
  }

  query(): Promise<ServiceStatus | undefined> {
    return this.#attempt('query', () => {
      const found = unlessFails(
        () => ({ ...this.#services.status(this.name), ...this.#services.config(this.name) }),
        'notFound',
      );
      if (found === undefined) return undefined;
      const command = parseServiceCommand(found.commandLine);
      if (command === undefined) throw this.#failure('query', 'it names no program');
      const pid = found.pid === 0 ? undefined : found.pid;
      const isDisabled = found.startType === 'disabled';
      return { command, state: stateOf(found.state), isDisabled, pid };
    });
  }

  setCommand(command: ServiceCommand): Promise<void> {
    return this.#upgrade.effects.once('write service', () =>
      this.#attempt('register', async () => {
        const words = [command.imagePath, ...command.args];
        const isThere = await this.query();
        if (isThere === undefined) await this.#register(command);
        const registered = isThere ?? (await this.query());
        if (registered !== undefined && isSameCommand(registered.command, command)) return;
        this.#services.setCommand(this.name, words);
      }),
    );
  }

  remove(): Promise<void> {
    return this.#upgrade.effects.once('remove service', () =>
      this.#attempt('remove', async () => {
        this.#services.remove(this.name);
        if (await this.#services.gone(this.name, { timeoutMs: END_MS })) return;
        throw this.#failure('remove', 'another program holds it open');
      }),
    );
  }

  start(): Promise<void> {
    return this.#upgrade.effects.once('start service', () =>
      this.#attempt('start', () => startServiceProcess(this.name)),
    );
  }

  stop(graceMs: number): Promise<void> {
    return this.#upgrade.effects.once('stop service', () =>
      this.#attempt('stop', async () => {
        try {
          await endService(this.name, { stopMs: graceMs, exitMs: END_MS });
        } catch (error) {
          if (!(error instanceof WindowsError) || error.code !== 'busy') throw error;
          const hint = `stop them first; "sc.exe enumdepend ${this.name}" lists them`;
          throw this.#failure('stop', `services that depend on it run; ${hint}`, error);
        }
      }),
    );
  }

  /**
   * Locks a file that only administrators can open. Does not use a named system-wide lock, because any process could take such a name and
   * block upgrades.
   */
  async lock(): Promise<AsyncDisposable | undefined> {
    const { folder, lock } = await findPaths(this);
    // Not within `#attempt`: a folder that others can use causes a refusal, not a failure of the service manager.
    await ensurePrivateFolder(this.#upgrade, folder);
    const held = await this.#upgrade.effects.once('lock', () =>
      this.#attempt('lock', () => lockFile(lock)),
    );
    return (
      held && {
        [Symbol.asyncDispose]: () => {
          held.close();
          return Promise.resolve();
        },
      }
    );
  }

  /** The program registers itself, because it knows its service name, restart policy and log location. */
  async #register({ imagePath, args }: ServiceCommand): Promise<void> {
    if (this.name !== SERVICE_NAME)
      throw this.#failure('register', `it does not exist; only ${SERVICE_NAME} can be created`);
    const { code, stderr } = await runProgram(imagePath, [...args, '--register'], {
      timeoutMs: REGISTER_MS,
    });
    if (code === 0) return;
    throw this.#failure('register', `${imagePath} ended with ${code ?? 'a signal'}: ${stderr}`);
  }

  async #attempt<T>(tried: string, action: () => T | Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (error instanceof WindowsError) throw this.#failure(tried, error.message, error);
      throw error;
    }
  }

  #failure(tried: string, found: string, cause?: unknown): UpgradeError {
    const message = `cannot ${tried} the service ${this.name}: ${found}`;
    return new UpgradeError('serviceFailed', message, { cause });
  }
}

function stateOf(state: ReturnType<ReturnType<typeof serviceControlManager>['status']>['state']) {
  return state === 'running' || state === 'stopped' || state === 'paused' ? state : 'pending';
}
