import type { CsiProxyService, ServiceFacts } from './csi-proxy-port.js';
import type { ServiceCommand } from './decide/install-record.js';
import { parseServiceCommand } from '@wins/service-upgrade';
import {
  endProcessWithin,
  endService,
  pipeExists,
  processesOf,
  serviceControlManager,
  startServiceProcess,
  unlessFails,
  windowsFolder,
  type ServiceDefinition,
} from '@wins/windows-host';
import { statSync } from 'node:fs';
import path from 'node:path';

const NAME = 'csiproxy';
/** Pipe of every csi-proxy since v1.0.0. */
const PIPE = '\\\\.\\pipe\\csi-proxy-filesystem-v1';
const REMOVED_MS = 10_000;

/** Equals the definition in the Go release. */
const DEFINITION: Omit<ServiceDefinition, 'command'> = {
  name: NAME,
  displayName: 'CSI Proxy',
  description: 'Manages the Kubernetes CSI Proxy application.',
  startType: 'automatic',
  dependencies: [],
  failurePolicy: { restartDelaysMs: [10_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 5_000,
};

export class WindowsCsiService implements CsiProxyService {
  readonly name = NAME;
  readonly #services = serviceControlManager();

  async query(): Promise<ServiceFacts | undefined> {
    const found = unlessFails(
      () => ({ ...this.#services.status(NAME), ...this.#services.config(NAME) }),
      'notFound',
    );
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

  // oxlint-disable-next-line typescript/require-await -- errors are rejections
  async create({ program, args }: ServiceCommand): Promise<void> {
    this.#services.register({ ...DEFINITION, command: [program, ...args] });
  }

  // oxlint-disable-next-line typescript/require-await -- errors are rejections
  async setCommand({ program, args }: ServiceCommand): Promise<void> {
    this.#services.setCommand(NAME, [program, ...args]);
  }

  start(): Promise<void> {
    return startServiceProcess(NAME);
  }

  async stop(graceMs: number): Promise<void> {
    if (unlessFails(() => this.#services.status(NAME), 'notFound') === undefined) return;
    // csi-proxy reports that it has stopped, but keeps running.
    await endService(NAME, { stopMs: graceMs, exitMs: graceMs });
  }

  async endLeftovers(program: string): Promise<void> {
    for (const left of processesOf(program)) await endProcessWithin(left, 0);
  }

  async remove(): Promise<void> {
    if (
      !this.#services.remove(NAME) ||
      (await this.#services.gone(NAME, { timeoutMs: REMOVED_MS }))
    )
      return;
    throw new Error('another program holds it open');
  }

  // oxlint-disable-next-line typescript/require-await -- errors are rejections
  async isServing(): Promise<boolean> {
    return pipeExists(PIPE);
  }
}

/** The Go release unpacks csi-proxy into its own working folder, which is `System32` for a Windows service. */
export function goProgram(): string {
  return path.win32.join(windowsFolder() ?? 'C:\\Windows', 'System32', 'csi-proxy.exe');
}
