import { SPOOLS } from '../feature.js';
import {
  createProcessManager,
  DetachedRuns,
  Keeper,
  RunFolders,
  type AllowedExecutable,
  type DetachedRun,
  type ProcessManager,
  type RestartPlan,
} from '@wins/process-manager';
import type { KeptProgram } from '@wins/config';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Shares } from '../../../kernel/admission/shares.js';
import { wantedPrograms } from '../kept-programs.js';
import { memoryTransport } from './memory-transport.js';
import type { SimulatedDisk } from './simulated-disk.js';
import { SimulatedMachine } from './simulated-machine.js';

/** A file system in memory is several times faster. */
const MEMORY = '/dev/shm';
const FOLDER = existsSync(MEMORY) ? MEMORY : tmpdir();
const RANDOM = 0;
/** Programs that ignore a stop are ended long before. Shorter than the default, because a daemon that was killed asks this long. */
const GRACE_MS = 3000;

/** The real detached runs on a simulated machine, with their files, their keepers, and one daemon after another. */
export class SimulatedDaemon {
  readonly machine = new SimulatedMachine();
  readonly folder = mkdtempSync(path.join(FOLDER, 'l-'));
  /** Called at the next event. */
  onceTold: (() => void) | undefined;
  allowed: readonly AllowedExecutable[] = [];
  keep: readonly KeptProgram[] = [];
  readonly #transport = memoryTransport();
  readonly #stateDirectory = path.join(this.folder, 'state');
  readonly #keepers = new Map<string, Keeper>();
  #daemons = 0;
  #started = 0;
  #hasKilledKeeper = false;
  #living: { readonly runs: DetachedRuns; readonly manager: ProcessManager } | undefined;

  constructor() {
    mkdirSync(path.join(this.folder, 'bin'));
  }

  /** Undefined for real files, whose disk is never full. */
  get #disk(): Pick<SimulatedDisk, 'isFull'> | undefined {
    return (process as { readonly simulatedDisk?: SimulatedDisk }).simulatedDisk;
  }

  get canFillDisk(): boolean {
    return this.#disk !== undefined;
  }

  fillDisk(isFull: boolean): void {
    if (this.#disk !== undefined) this.#disk.isFull = isFull;
  }

  get runs(): DetachedRuns {
    if (this.#living === undefined) throw new Error('no daemon runs');
    return this.#living.runs;
  }

  pathOf(program: string): string {
    return path.join(this.folder, 'bin', program);
  }

  write(program: string, bytes: string): void {
    const isFull = this.#disk?.isFull === true;
    this.fillDisk(false);
    writeFileSync(this.pathOf(program), bytes, { mode: 0o755 });
    this.fillDisk(isFull);
  }

  digestOf(bytes: string): string {
    return createHash('sha256').update(bytes).digest('hex');
  }

  /** Copies of programs, and folders and records of runs. */
  leftFiles(): readonly string[] {
    const all = readdirSync(this.folder, { recursive: true }).map(String);
    return all.filter((file) => /rancher-wins-|[0-9a-f]{32}/.test(file));
  }

  /** Plan of a run as the next daemon would find it. */
  planOnDisk(facts: DetachedRun['facts']): DetachedRun['plan'] {
    const folder = new RunFolders(this.#stateDirectory).folderOf(
      facts.continues?.folder ?? facts.run.mark,
    );
    return JSON.parse(readFileSync(path.join(folder, 'restart.json'), 'utf8')) as RestartPlan;
  }

  /** Files that are open although nothing runs. Files of keepers that were killed stay open in this process. */
  openFiles(): readonly string[] {
    if (this.#hasKilledKeeper) return [];
    const links = readdirSync('/proc/self/fd').map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return '';
      }
    });
    return links.filter((file) => file.startsWith(`${this.folder}/`));
  }

  remove(program: string): void {
    rmSync(this.pathOf(program), { force: true });
  }

  /** Resolves when no process is being stopped: the process manager looks from time to time whether it is gone. */
  async stopped(): Promise<void> {
    await this.machine.settled();
    const all = this.#living?.manager.list() ?? [];
    await Promise.all(
      all.filter(({ state }) => state.kind !== 'running').map(({ ended }) => ended),
    );
  }

  /** Number of processes that the process manager takes for living. */
  get managed(): number {
    const all = this.#living?.manager.list() ?? [];
    return all.filter(({ state }) => state.kind !== 'ended').length;
  }

  async start(): Promise<void> {
    const { machine, allowed } = this;
    const stateDirectory = this.#stateDirectory;
    const host = machine.hostFor(`daemon:${(this.#daemons += 1)}`);
    const manager = createProcessManager({
      allowed,
      stateDirectory,
      host,
      onDecision: () => undefined,
      graceMs: GRACE_MS,
    });
    await manager.recover();
    const runs = new DetachedRuns(manager, {
      stateDirectory,
      host,
      keepers: { release: 'r', transport: this.#transport, start: () => this.#startKeeper() },
      spools: new Shares(SPOOLS),
      graceMs: GRACE_MS,
      clock: machine.clock,
      random: () => RANDOM,
      onEvent: ({ type }) => {
        if (type === 'noted') return;
        const told = this.onceTold;
        this.onceTold = undefined;
        told?.();
      },
    });
    this.#living = { runs, manager };
    runs.keep(wantedPrograms({ keep: this.keep }, 'posix'));
    await runs.adopt();
    await machine.settled();
  }

  allow(allowed: readonly AllowedExecutable[]): void {
    this.allowed = allowed;
    this.#living?.manager.setAllowed(allowed);
  }

  reload(keep: readonly KeptProgram[]): void {
    this.keep = keep;
    this.#living?.runs.keep(wantedPrograms({ keep }, 'posix'));
  }

  /** Ends the daemon; its keepers and runs continue. */
  async kill(): Promise<void> {
    await this.#living?.runs.close();
    this.#living = undefined;
    this.machine.kill(`daemon:${this.#daemons}`);
    await this.machine.settled();
  }

  /** Ends all keepers; their runs continue until a daemon ends them. */
  async killKeepers(): Promise<void> {
    for (const [name, keeper] of [...this.#keepers]) {
      this.#keepers.delete(name);
      this.#hasKilledKeeper = true;
      this.machine.kill(name);
      await keeper.close();
      const record = new RunFolders(this.#stateDirectory).keeper(name);
      // It was there before the disk was full.
      const isFull = this.#disk?.isFull === true;
      this.fillDisk(false);
      await record.write(keeper.record);
      this.fillDisk(isFull);
    }
    await this.machine.settled();
  }

  async close(): Promise<void> {
    this.machine.isStubborn = false;
    this.fillDisk(false);
    await this.kill();
    await this.killKeepers();
    for (const process of this.machine.processes) {
      process.end({ code: 137 });
      process.finish();
    }
    await this.machine.settled();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startKeeper() {
    const name = `keeper:${(this.#started += 1)}`;
    const host = this.machine.hostFor(name);
    const keeper = new Keeper({
      stateDirectory: this.#stateDirectory,
      host,
      release: 'r',
      transport: this.#transport,
      clock: this.machine.clock,
    });
    this.#keepers.set(name, keeper);
    await keeper.listen();
    void keeper.over.then(async () => {
      if (!this.#keepers.delete(name)) return;
      await keeper.close();
      this.machine.kill(name);
    });
    return keeper.record;
  }
}
