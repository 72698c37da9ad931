import type { CsiProxyService, ServiceFacts } from './csi-proxy-port.js';
import type { ServiceCommand } from './decide/install-record.js';
import { parseServiceCommand } from '@wins/service-upgrade';
import {
  endProcess,
  isRunning,
  pipeExists,
  processesOf,
  processIdentity,
  RegistryKey,
  serviceControlManager,
  WindowsError,
  type ProcessIdentity,
  type ServiceDefinition,
} from '@wins/windows-host';
import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const NAME = 'csiproxy';
/** One of the pipes of every csi-proxy from v1.0.0 on. */
const PIPE = '\\\\.\\pipe\\csi-proxy-filesystem-v1';
const LOOK_EVERY_MS = 20;
/** A process that was ended by force is gone much sooner. */
const END_MS = 10_000;

/** As the original registers it. */
const DEFINITION: Omit<ServiceDefinition, 'command'> = {
  name: NAME,
  displayName: 'CSI Proxy',
  description: 'Manages the Kubernetes CSI Proxy application.',
  startType: 'automatic',
  dependencies: [],
  failurePolicy: { restartDelaysMs: [10_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 5_000,
};

/** The service of csi-proxy on Windows. */
export class WindowsCsiService implements CsiProxyService {
  readonly name = NAME;
  readonly #services = serviceControlManager();

  async query(): Promise<ServiceFacts | undefined> {
    const found = unlessAbsent(() => ({
      ...this.#services.status(NAME),
      ...this.#services.config(NAME),
    }));
    if (found === undefined) return Promise.resolve(undefined);
    const words = parseServiceCommand(
      found.commandLine,
      (file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true,
    );
    return Promise.resolve({
      command: words && { program: words.imagePath, args: words.args },
      isRunning: found.state !== 'stopped',
      isDisabled: found.startType === 'disabled',
    });
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- errors are rejections
  async create({ program, args }: ServiceCommand): Promise<void> {
    this.#services.register({ ...DEFINITION, command: [program, ...args] });
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- errors are rejections
  async setCommand({ program, args }: ServiceCommand): Promise<void> {
    this.#services.setCommand(NAME, [program, ...args]);
  }

  async start(): Promise<void> {
    const started = new AbortController();
    try {
      await this.#services.start(NAME, {
        signal: started.signal,
        onProgress: ({ pid }) => {
          if (pid !== 0) started.abort();
        },
      });
    } catch (error) {
      if (!started.signal.aborted) throw error;
    }
  }

  async stop(graceMs: number): Promise<void> {
    const found = unlessAbsent(() => this.#services.status(NAME));
    if (found === undefined) return;
    const { pid } = found;
    const running = pid === 0 ? undefined : processIdentity(pid);
    try {
      await this.#services.stop(NAME, { timeoutMs: graceMs });
    } catch (error) {
      const isLate = error instanceof WindowsError && error.code === 'timeout';
      if (!isLate || running === undefined) throw error;
      await endOf(running, 0);
      await this.#noticeEnd(running);
    }
    // It says that it has stopped, and lives on.
    if (running !== undefined) await endOf(running, graceMs);
  }

  async endLeftovers(program: string): Promise<void> {
    for (const left of processesOf(program)) await endOf(left, 0);
  }

  async remove(): Promise<void> {
    if (!this.#services.remove(NAME) || (await this.#services.gone(NAME, { timeoutMs: END_MS })))
      return;
    throw new Error('a program holds it open');
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- errors are rejections
  async isServing(): Promise<boolean> {
    return pipeExists(PIPE);
  }

  /** The service manager learns of an end by force in its own time. */
  async #noticeEnd({ pid }: ProcessIdentity): Promise<void> {
    try {
      await this.#services.stop(NAME, { timeoutMs: END_MS });
    } catch (error) {
      const { pid: now } = this.#services.status(NAME);
      if (!(error instanceof WindowsError) || (now !== 0 && now !== pid)) throw error;
    }
  }
}

/** Where the original unpacks csi-proxy: the folder that its service works in. */
export function goProgram(): string {
  const key = RegistryKey.open('SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion');
  try {
    const root = key?.value('SystemRoot');
    const folder = root?.type === 'text' ? root.value : 'C:\\Windows';
    return path.win32.join(folder, 'System32', 'csi-proxy.exe');
  } finally {
    key?.close();
  }
}

/** Waits for the end of exactly this process, and ends it by its handle when it takes too long. */
async function endOf(running: ProcessIdentity, graceMs: number): Promise<void> {
  if (await hasEnded(running, graceMs)) return;
  endProcess(running);
  if (await hasEnded(running, END_MS)) return;
  throw new Error(`its process ${running.pid} does not end, not even by force`);
}

async function hasEnded(running: ProcessIdentity, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (isRunning(running)) {
    if (performance.now() >= end) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}

function unlessAbsent<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'notFound') return undefined;
    throw error;
  }
}
