import { resolvePipePath } from '@wins/pipe-transport';
import { serviceControlManager, type ServiceDefinition } from '@wins/windows-host';
import { createWinsClient } from '@wins/wins-api';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startProgram, type Outcome, type RunningProgram } from '../testing/built-program.js';
import { ROOT } from '../testing/workspace.js';
import { isAlive, until, WindowsWorkspace } from './windows-workspace.js';

export interface Report {
  readonly code: number | null;
  readonly outcome: string;
  readonly reason: string;
}

/** Far more than a service needs to become stable. */
const REST_MS = 60_000;
/** A healthy daemon answers sooner. */
const ANSWER_MS = 5000;
/** Files that stay in the private folder. */
const REMAINS = /^(lock|result\.json|upgrade\.log|record-.*\.json)$/;

/** Runs `wins up`, and records its effects. */
const DRIVER = `
const fs = require('node:fs');
const upgrade = require(${JSON.stringify(path.join(ROOT, 'dist', 'wins-upgrade.cjs'))});
const around = (effect, step) => {
  fs.appendFileSync(process.env.UPGRADE_TRACE, effect + '\\n');
  return step();
};
require.cache[require.resolve(${JSON.stringify(path.join(ROOT, 'dist', 'wins-upgrade.cjs'))})].exports = {
  ...upgrade,
  runUpgrade: (options, more) => upgrade.runUpgrade(options, { ...more, around }),
};
require(${JSON.stringify(path.join(ROOT, 'dist', 'wins.cjs'))});
`;

/** A release that was built before the specs ran. */
export function release(name: string): string {
  return path.join(ROOT, 'dist', 'upgrade', `${name}.exe`);
}

/** A service on this machine, with its upgrades. Several worlds can exist at the same time. */
export class WindowsUpgradeWorld implements AsyncDisposable {
  readonly services = serviceControlManager();
  readonly workspace = new WindowsWorkspace();
  readonly service: string;
  readonly target: string;
  readonly folder: string;
  readonly helper: string;
  readonly config: string;
  readonly #driver: string;

  private constructor(program: string, name: string | undefined) {
    this.service = name ?? `wins-e2e-${this.workspace.id}`;
    this.target = path.resolve(this.workspace.folder, program);
    this.folder = `${this.target}.upgrade`;
    this.helper = this.workspace.path('wins-upgrade.exe');
    this.config = this.workspace.config([{ path: this.helper, mayBreakAway: true }]);
    this.#driver = this.workspace.script('driver', DRIVER);
  }

  static empty(program = 'wins.exe', name?: string): WindowsUpgradeWorld {
    const world = new WindowsUpgradeWorld(program, name);
    mkdirSync(path.dirname(world.target), { recursive: true });
    return world;
  }

  static registered(installed = 'v1.0.0', name?: string): WindowsUpgradeWorld {
    const world = WindowsUpgradeWorld.empty(undefined, name);
    copyFileSync(release(installed), world.target);
    world.register();
    return world;
  }

  static async running(installed?: string): Promise<WindowsUpgradeWorld> {
    const world = WindowsUpgradeWorld.registered(installed);
    await world.services.start(world.service);
    return world;
  }

  register(more: Partial<ServiceDefinition> = {}): void {
    this.services.register({
      name: this.service,
      displayName: this.service,
      description: 'of a test',
      command: [this.target, ...this.words],
      startType: 'manual',
      dependencies: [],
      failurePolicy: { restartDelaysMs: [1000], resetAfterSeconds: 60 },
      preshutdownTimeoutMs: 10_000,
      ...more,
    });
  }

  get words(): readonly string[] {
    return ['srv', 'app', 'run', '--config', this.config];
  }

  get commandLine(): string {
    return this.services.config(this.service).commandLine;
  }

  startUp(args: readonly string[]): RunningProgram {
    const trace = this.workspace.path('trace');
    rmSync(trace, { force: true });
    const words = ['up', '--json', '--service', this.service, ...args];
    const environment = { ...process.env, UPGRADE_TRACE: trace };
    return startProgram(process.execPath, [this.#driver, ...words], environment);
  }

  async up(...args: string[]): Promise<Report> {
    const { code, stdout, stderr } = await this.startUp(args).outcome;
    if (stdout.length === 0) return { code, outcome: 'error', reason: stderr };
    return { code, ...(JSON.parse(stdout.toString()) as Omit<Report, 'code'>) };
  }

  clientUpgrade(name: string, ...args: string[]): Promise<Outcome> {
    copyFileSync(release(name), this.helper);
    const words = ['upgrade', '--path', this.helper, ...args];
    return this.workspace.client(...words).outcome;
  }

  get effects(): string[] {
    const file = this.workspace.path('trace');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Files that upgrades left, also beside the installed program. */
  get leftovers(): string[] {
    const inside = existsSync(this.folder) ? readdirSync(this.folder) : [];
    const beside = readdirSync(path.dirname(this.target));
    const known = [this.target, this.helper].map((file) => path.basename(file));
    return [
      ...inside.filter((name) => !REMAINS.test(name)),
      ...beside.filter((name) => /^wins.*\.(exe|tmp|old)$/.test(name) && !known.includes(name)),
    ];
  }

  get #log(): string {
    const file = path.join(this.folder, 'upgrade.log');
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-3000) : '';
  }

  get named(): string {
    const { commandLine } = this;
    return /^"([^"]+)"/.exec(commandLine)?.[1] ?? commandLine.split(' ', 1)[0] ?? '';
  }

  async answer(): Promise<{ readonly version: string; readonly sha1: string } | undefined> {
    const { address } = resolvePipePath(this.workspace.listen);
    const client = createWinsClient({ address, connectTimeoutMs: ANSWER_MS });
    try {
      // A hanging daemon does not answer calls, even on an accepted connection.
      const { version, checksum } = await client.info({ signal: AbortSignal.timeout(ANSWER_MS) });
      return { version, sha1: checksum.toLowerCase() };
    } catch {
      return undefined;
    } finally {
      await client.close();
    }
  }

  /** Simulates a power failure: kills the daemon. */
  async powerFails(): Promise<void> {
    const { pid } = this.services.status(this.service);
    if (pid !== 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
    await until(() => pid === 0 || !isAlive(pid));
  }

  /** Starts the service unless its process lives. The program may exit at once. */
  async start(): Promise<void> {
    const { state, pid } = this.services.status(this.service);
    // Wine does not notice that the process of a service was killed.
    if (state !== 'stopped' && pid !== 0 && isAlive(pid)) return;
    await this.services.start(this.service).catch(() => undefined);
  }

  /**
   * Waits until the service is stable: its command names the target, the target runs, and no upgrade is under way. Until then, restarts the service
   * whenever the service ends, as its failure actions would. Files of a helper that died before its journal existed may remain.
   *
   * @returns The version of the running daemon.
   */
  async rest(): Promise<string> {
    let version: string | undefined;
    const deadline = performance.now() + REST_MS;
    await until(async () => {
      await this.start();
      const answer = await this.answer();
      const isResting = this.named === this.target && !this.leftovers.includes('journal.json');
      if (isResting && answer?.sha1 === digest('sha1', this.target)) version = answer.version;
      if (version === undefined && performance.now() > deadline) {
        const found = { named: this.named, leftovers: this.leftovers, answer };
        throw new Error(`no rest: ${JSON.stringify({ ...found, log: this.#log })}`);
      }
      return version !== undefined;
    });
    return version ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.services.stop(this.service, { timeoutMs: 5000 }).catch(() => this.powerFails());
      this.services.remove(this.service);
    } catch {
      // The service does not exist.
    }
    await this.workspace.remove();
  }
}

export function digest(algorithm: 'sha1' | 'sha256', file: string): string {
  return createHash(algorithm).update(readFileSync(file)).digest('hex');
}
