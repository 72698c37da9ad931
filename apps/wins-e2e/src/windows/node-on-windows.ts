import { installPlaces } from '@wins/installation';
import { resolvePipePath } from '@wins/pipe-transport';
import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import { startRancher, type RancherDouble } from '@wins/rancher-client/testing';
import { RegistryKey, serviceControlManager } from '@wins/windows-host';
import { createWinsClient } from '@wins/wins-api';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from '../testing/built-program.js';
import { release } from './windows-upgrade-world.js';
import { WindowsWorkspace } from './windows-workspace.js';

/** The service of the daemon. */
export const NAME = 'rancher-wins';
export const PLACES = installPlaces('win32');
const ENVIRONMENT = 'SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
const SERVICES = 'SYSTEM\\CurrentControlSet\\Services';
const EVENTS = `${SERVICES}\\EventLog\\Application\\${NAME}`;
/** Folders that an installation makes at the top of the disk or in ProgramData. */
const TOPS = ['etc', 'usr', 'var', 'ProgramData\\rancher-wins-install'].map(
  (name) => `C:\\${name}`,
);
const WINDOWS = process.env['SystemRoot'] ?? 'C:\\windows';
const JOURNAL = path.join(PLACES.stateFolder, 'journal.jsonl');
/** Where the original puts csi-proxy. */
export const CSI_PROXY = path.join(WINDOWS, 'System32', 'csi-proxy.exe');
/** Where the original has the program that the service runs. */
export const GO_PROGRAM = path.join(WINDOWS, 'wins.exe');
/** How other services than the real one are registered. */
export const STUB = {
  ...{ displayName: 'a test', description: 'a test', startType: 'manual' as const },
  failurePolicy: { restartDelaysMs: [5000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 10_000,
};
/** In no file but the connection info, and in no text. */
export const TOKEN = 'canary-of-a-registration-0123456789';

/** Output of a command about a node with `-o json`, and its exit code. */
export interface NodeReport {
  readonly code: number | null;
  readonly outcome: string;
  readonly reason: string;
  readonly steps: readonly string[];
  readonly kept: readonly string[];
  readonly recovered?: string;
}

/** This machine as a node from nothing to gone, with the server that it joins. The service has the name of the real one. */
export class NodeOnWindows implements AsyncDisposable {
  readonly services = serviceControlManager();
  readonly workspace = new WindowsWorkspace();
  /** All that the programs printed. */
  printed = '';

  private constructor(
    readonly rancher: RancherDouble,
    readonly api: ApiServer,
  ) {}

  static async start(): Promise<NodeOnWindows> {
    const api = await startApiServer();
    const rancher = await startRancher({ token: TOKEN });
    const node = new NodeOnWindows(rancher, api);
    // A real node may run the real service: that one is not for tests.
    assert.equal(node.isService(), false);
    assert.deepEqual(TOPS.filter(existsSync), []);
    // Where other specs upgrade the service that a first installation would make.
    rmSync(path.join(WINDOWS, 'wins.exe.upgrade'), { recursive: true, force: true });
    api.create({});
    rancher.connectionInfo = JSON.parse(api.connectionInfo()) as unknown;
    return node;
  }

  /** Variables of a node that joins the server. */
  get joining(): Readonly<Record<string, string>> {
    return {
      CATTLE_SERVER: this.rancher.url,
      CATTLE_TOKEN: TOKEN,
      CATTLE_CA_CHECKSUM: this.rancher.checksum,
    };
  }

  /**
   * Runs a release, and ends it by force as soon as it is time, or lets it end by itself before.
   *
   * @returns Whether it was ended.
   */
  async crash(
    program: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>>,
    isTime: () => boolean,
  ): Promise<boolean> {
    const { child, outcome } = startProgram(release(program), args, {
      ...process.env,
      ...variables,
    });
    let isOver = false;
    while (!isOver && child.exitCode === null) {
      isOver = isTime();
      await delay(1);
    }
    child.kill('SIGKILL');
    await outcome;
    return isOver;
  }

  /** How many lines the journal of a command has now; 0 without one. */
  get journalLines(): number {
    try {
      return readFileSync(JOURNAL, 'utf8').split('\n').length - 1;
    } catch {
      return 0;
    }
  }

  /** Runs a release, or the program at a path, with variables beside those of this process. */
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

  /** The process that serves; it differs after a restart. */
  get pid(): number {
    return this.services.status(NAME).pid;
  }

  /** The release of the daemon that serves. */
  async version(): Promise<string> {
    const { address } = resolvePipePath('rancher_wins');
    const client = createWinsClient({ address, connectTimeoutMs: 10_000 });
    try {
      return (await client.info()).version;
    } finally {
      await client.close();
    }
  }

  /** The PATH of the machine, as it stands in the registry. */
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

  /** A service by the name of rke2: a daemon of its own, which is one that can be at hand. */
  async startRke2(): Promise<void> {
    const config = this.workspace.config([]);
    this.services.register({
      ...STUB,
      ...{ name: 'rke2', dependencies: [] },
      command: [release('v1.0.0'), 'srv', 'app', 'run', '--config', config],
    });
    await this.services.start('rke2');
  }

  /** Settings that the service manager of this system keeps; Wine accepts more, and forgets them. */
  get keeps(): { readonly dependencies: boolean; readonly delayedStart: boolean } {
    const [name, other] = [`wins-e2e-${this.workspace.id}`, 'EventLog'];
    const command = ['C:\\none.exe'];
    this.services.register({ ...STUB, name, command, dependencies: [other], startType: 'delayed' });
    const { dependencies, startType } = this.services.config(name);
    this.services.remove(name);
    return { dependencies: dependencies.length > 0, delayedStart: startType === 'delayed' };
  }

  /** Programs that removed themselves, and are not gone yet. */
  get movedPrograms(): readonly string[] {
    return readdirSync(path.join(WINDOWS, 'Temp')).filter((name) => /^wins-.*\.exe$/.test(name));
  }

  async removeService(name: string): Promise<void> {
    if (!this.isService(name)) return;
    await this.services.stop(name, { timeoutMs: 20_000 });
    this.services.remove(name);
    await this.services.gone(name, { timeoutMs: 10_000 });
  }

  /** Files in which a text stands, of all that an installation makes. */
  filesWith(text: string): string[] {
    return TOPS.filter(existsSync).flatMap((top) =>
      readdirSync(top, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(text)),
    );
  }

  /** All of an installation that is there now. */
  get traces(): readonly string[] {
    const windows = path.join(WINDOWS, 'wins.exe');
    return [
      ...[...TOPS, `${PLACES.stateFolder}-lock`, windows, `${windows}.upgrade`].filter(existsSync),
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
