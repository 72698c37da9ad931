import { installPaths } from '@wins/installation';
import { resolvePipePath } from '@wins/pipe-transport';
import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import { startRancher, type RancherDouble } from '@wins/rancher-client/testing';
import { RegistryKey, serviceControlManager } from '@wins/windows-host';
import { createWinsClient } from '@wins/wins-api';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { release } from './windows-upgrade-world.js';
import { WindowsWorkspace } from './windows-workspace.js';

export const NAME = 'rancher-wins';
export const PATHS = installPaths('win32');
const ENVIRONMENT = 'SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
const SERVICES = 'SYSTEM\\CurrentControlSet\\Services';
const EVENTS = `${SERVICES}\\EventLog\\Application\\${NAME}`;
/** An installation creates these folders. */
const TOPS = ['etc', 'usr', 'var', 'ProgramData\\rancher-wins-install'].map(
  (name) => `C:\\${name}`,
);
const WINDOWS = process.env['SystemRoot'] ?? 'C:\\windows';
const JOURNAL = path.join(PATHS.stateFolder, 'journal.jsonl');
export const CSI_PROXY = path.join(WINDOWS, 'System32', 'csi-proxy.exe');
export const GO_PROGRAM = path.join(WINDOWS, 'wins.exe');
/** Settings of the services that tests register. */
export const STUB = {
  displayName: 'a test',
  description: 'a test',
  startType: 'manual' as const,
  failurePolicy: { restartDelaysMs: [5000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 10_000,
};
/** A registration token, which commands must not print or write to files. */
export const TOKEN = 'canary-of-a-registration-0123456789';

export interface NodeReport {
  readonly code: number | null;
  readonly outcome: string;
  readonly reason: string;
  readonly steps: readonly string[];
  readonly kept: readonly string[];
  readonly recovered?: string;
}

/** Makes this machine a node of a simulated Rancher server. Uses the name of the real service. */
export class NodeOnWindows implements AsyncDisposable {
  readonly services = serviceControlManager();
  readonly workspace = new WindowsWorkspace();
  printed = '';

  private constructor(
    readonly rancher: RancherDouble,
    readonly api: ApiServer,
  ) {}

  static async start(): Promise<NodeOnWindows> {
    const api = await startApiServer();
    const rancher = await startRancher({ token: TOKEN });
    const node = new NodeOnWindows(rancher, api);
    // Refuses to run on a real node: the tests would replace its service.
    assert.equal(node.isService(), false);
    assert.deepEqual(TOPS.filter(existsSync), []);
    // Other specs upgrade a service at `GO_PROGRAM` and leave this folder behind.
    rmSync(path.join(WINDOWS, 'wins.exe.upgrade'), { recursive: true, force: true });
    api.create({});
    rancher.connectionInfo = JSON.parse(api.connectionInfo()) as unknown;
    return node;
  }

  get joining(): Readonly<Record<string, string>> {
    return {
      CATTLE_SERVER: this.rancher.url,
      CATTLE_TOKEN: TOKEN,
      CATTLE_CA_CHECKSUM: this.rancher.checksum,
    };
  }

  get journalLines(): number {
    try {
      return readFileSync(JOURNAL, 'utf8').split('\n').length - 1;
    } catch {
      return 0;
    }
  }

  /** Runs a release, or the program at an absolute path. Adds `variables` to those of this process. */
  async wins(
    program: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<NodeReport> {
    const file = path.isAbsolute(program) ? program : release(program);
    const environment = { ...process.env, ...variables };
    const running = startProgram(file, [...args, '-o', 'json'], environment);
    const { code, stdout, stderr } = await running.outcome;
    this.printed += `${stdout.toString()}${stderr}`;
    if (stdout.length === 0) return { code, outcome: 'error', reason: stderr, steps: [], kept: [] };
    const report = JSON.parse(stdout.toString()) as Partial<NodeReport>;
    return { outcome: '', reason: stderr, steps: [], kept: [], ...report, code };
  }

  isService(name = NAME): boolean {
    try {
      this.services.status(name);
      return true;
    } catch {
      return false;
    }
  }

  /** PID of the daemon; it changes at a restart. */
  get pid(): number {
    return this.services.status(NAME).pid;
  }

  async version(): Promise<string> {
    const { address } = resolvePipePath('rancher_wins');
    const client = createWinsClient({ address, connectTimeoutMs: 10_000 });
    try {
      return (await client.info()).version;
    } finally {
      await client.close();
    }
  }

  get machinePath(): { readonly type: string; readonly value: unknown } {
    const value = valueOf(ENVIRONMENT, 'Path');
    assert.ok(value);
    return value;
  }

  writeMachinePath(value: string): void {
    const key = RegistryKey.create(ENVIRONMENT);
    key.set('Path', { type: 'expandable-text', value });
    key.close();
  }

  /** Variables that the service control manager adds for the service. */
  get serviceEnvironment(): ReturnType<RegistryKey['value']> {
    return valueOf(`${SERVICES}\\${NAME}`, 'Environment');
  }

  writeServiceEnvironment(lines: readonly string[]): void {
    const key = RegistryKey.create(`${SERVICES}\\${NAME}`);
    key.set('Environment', { type: 'texts', value: lines });
    key.close();
  }

  get hasEventSource(): boolean {
    const key = RegistryKey.open(EVENTS);
    key?.close();
    return key !== undefined;
  }

  /** Starts a service named rke2, which is a second daemon. */
  async startRke2(): Promise<void> {
    const config = this.workspace.config([]);
    this.services.register({
      ...STUB,
      name: 'rke2',
      dependencies: [],
      command: [release('v1.0.0'), 'srv', 'app', 'run', '--config', config],
    });
    await this.services.start('rke2');
  }

  /** Tells which settings the service manager stores. Wine accepts some without storing them. */
  get keeps(): { readonly dependencies: boolean; readonly delayedStart: boolean } {
    const [name, other] = [`wins-e2e-${this.workspace.id}`, 'EventLog'];
    const command = ['C:\\none.exe'];
    this.services.register({ ...STUB, name, command, dependencies: [other], startType: 'delayed' });
    const { dependencies, startType } = this.services.config(name);
    this.services.remove(name);
    return { dependencies: dependencies.length > 0, delayedStart: startType === 'delayed' };
  }

  /** Names of programs that were moved to the root of the drive because they still ran. Each is removed after it has ended. */
  get movedPrograms(): readonly string[] {
    return readdirSync(path.parse(WINDOWS).root).filter((name) => /^wins-.*\.exe$/.test(name));
  }

  async removeService(name: string): Promise<void> {
    if (!this.isService(name)) return;
    await this.services.stop(name, { timeoutMs: 20_000 });
    this.services.remove(name);
    await this.services.gone(name, { timeoutMs: 10_000 });
  }

  filesWith(text: string): string[] {
    return TOPS.filter(existsSync).flatMap((top) =>
      readdirSync(top, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(text)),
    );
  }

  /** Remaining parts of an installation. */
  get traces(): readonly string[] {
    const windows = path.join(WINDOWS, 'wins.exe');
    return [
      ...[...TOPS, `${PATHS.stateFolder}-lock`, windows, `${windows}.upgrade`].filter(existsSync),
      ...(this.isService() ? [`service ${NAME}`] : []),
      ...(this.hasEventSource ? ['source of events'] : []),
      ...String(this.machinePath.value)
        .split(';')
        .filter((each) => /^C:\\(usr|var)\\/i.test(each)),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of ['rke2', 'csiproxy', NAME]) await this.removeService(name);
    RegistryKey.deleteTree(EVENTS);
    for (const top of [...TOPS, GO_PROGRAM, CSI_PROXY])
      rmSync(top, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    await this.workspace.remove();
    await this.rancher.close();
    await this.api.close();
  }
}

function valueOf(path: string, name: string) {
  const key = RegistryKey.open(path);
  try {
    return key?.value(name);
  } finally {
    key?.close();
  }
}
