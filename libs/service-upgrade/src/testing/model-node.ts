// This file is longer than most, because the effects of an upgrade change the same node: its files, services and processes.
import { posixFileTrust } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Effects } from '../effects.js';
import { handOver, planOnly, type Helper } from '../run/hand-over.js';
import { offerUpgrade } from '../run/offer-upgrade.js';
import { ensurePrivateFolder, withLock } from '../run/private-folder.js';
import { performUpgrade } from '../run/perform-upgrade.js';
import type { UpgradeRequest } from '../plan/plan-upgrade.js';
import type { DaemonAnswer } from '../run/health-gate.js';
import { recoverInterrupted, type Recoverer } from '../run/recover-upgrade.js';
import type { ServiceCommand } from '../service/service-command.js';
import type { ServiceControl, UpgradeHost } from '../service/service-control.js';
import type { UpgradeContext } from '../run/upgrade-context.js';
import { UpgradeError } from '../upgrade-error.js';
import { UpgradeLog } from '../journal/upgrade-log.js';
import { findPaths, stagedPaths, upgradePaths } from '../journal/upgrade-paths.js';
import type { UpgradeOutcome } from '../journal/upgrade-result.js';

/** The process dies before or after an effect, or the system reports an error instead. */
export type Fault = 'before' | 'after' | 'EBUSY' | 'ENOSPC' | 'EIO';

/** How the run of one helper or daemon ended. */
export type LifeEnd = UpgradeOutcome | 'none' | 'died' | 'error';

const HOST: UpgradeHost = {
  platform: 'linux',
  arch: process.arch,
  trust: posixFileTrust(),
  self: '1:1',
  isAlive: () => false,
  isBelow: () => false,
  startedAtMs: () => undefined,
  startOutsideRun: () => Promise.resolve(),
};
const NEVER = new Promise<never>(() => undefined);

/** Returns a program that prints its version. The model reads `behaviour` from the comment in that program. */
export function release(version: string, behaviour: 'well' | 'lies' | 'idle' = 'well'): string {
  return `#!/bin/sh\n[ "$1" = --version ] && echo "rancher-wins version ${version}"\nexit 0 # ${behaviour}\n`;
}

function sha(algorithm: string, text: string): string {
  return createHash(algorithm).update(text).digest('hex');
}

/**
 * A node with real files. Its service manager and daemons are a model, so that hundreds of processes can run and die
 * within seconds. Before and after each effect, it checks that the service points to a complete program. The class is long
 * because all simulated processes of a node change the same files, service and daemon.
 */
export class ModelNode implements Disposable {
  readonly folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-model-')));
  readonly target = path.join(this.folder, 'wins');
  readonly paths = upgradePaths(this.target);
  command: ServiceCommand | undefined;
  /** `text` is the content of `file` when the daemon started. */
  running: { readonly file: string; readonly text: string } | undefined;
  /** One text per failed check. Before and after each effect, a check expects that the service points to a complete program. */
  readonly violations: string[] = [];
  effects = 0;
  readonly #asksPrograms: boolean;
  readonly #whole = new Set<string>();
  /** Versions by SHA-256. */
  readonly #versions = new Map<string, string>();
  #takenName: string | undefined;
  #lockHolder: symbol | undefined;

  /** @param asksPrograms - Whether to run a program for its version, which takes most of the time of an upgrade. Default true. */
  constructor({ asksPrograms = true } = {}) {
    this.#asksPrograms = asksPrograms;
  }

  offer(text: string): string {
    this.#add(text);
    const file = path.join(this.folder, 'offered');
    writeFileSync(file, text);
    return file;
  }

  install(text: string, isRunning: boolean): void {
    this.#add(text);
    writeFileSync(this.target, text, { mode: 0o755 });
    this.command = { imagePath: this.target, args: ['srv', 'app', 'run'] };
    if (isRunning) this.running = { file: this.target, text };
  }

  /** Leaves a folder, which an upgrade does not remove, at the first path that the program would have during its trial. */
  takeName(version: string, text: string): void {
    const [file] = stagedPaths(this.paths, version, sha('sha256', text));
    mkdirSync(file, { recursive: true, mode: 0o700 });
    this.#takenName = path.basename(file);
  }

  /** `faults` is keyed by the number of the effect. */
  up(
    program: string,
    faults: ReadonlyMap<number, Fault> = new Map(),
    request: UpgradeRequest = { allowDowngrade: true },
  ): Promise<LifeEnd> {
    return this.#live(faults, async (context) => {
      const paths = await findPaths(context.service);
      await ensurePrivateFolder(context, paths.folder);
      return (await performUpgrade(context, paths, program, request)).outcome;
    });
  }

  /**
   * Simulates an upgrade from a container: one process prepares a helper, and the helper performs the upgrade. `faults` is keyed by the number
   * of the effect of both.
   */
  async upByHelper(
    program: string,
    faults: ReadonlyMap<number, Fault> = new Map(),
    request: UpgradeRequest = { allowDowngrade: true },
  ): Promise<LifeEnd> {
    let helper: Helper | undefined;
    const end = await this.#live(faults, async (context) => {
      const paths = await findPaths(context.service);
      await ensurePrivateFolder(context, paths.folder);
      const decided = await handOver({ ...context, ownFile: program }, paths, request);
      if ('outcome' in decided) return decided.outcome;
      helper = decided;
      return 'none';
    });
    if (helper === undefined) return end;
    const { file, knownVersions } = helper;
    const { effects } = this;
    const later = new Map([...faults].map(([effect, fault]) => [effect - effects, fault]));
    const outcome = await this.#live(later, async (context) => {
      const known = { ...context, ownFile: file, knownVersions };
      return (await performUpgrade(known, this.paths, file, request)).outcome;
    });
    this.effects += effects;
    // A helper removes its own file at its end.
    if (outcome !== 'died') rmSync(file, { force: true });
    return outcome;
  }

  /** Plans an upgrade, and performs none. */
  planOnly(program: string): Promise<LifeEnd> {
    return this.#live(new Map(), async (context) => {
      await planOnly(context, this.paths, program, { allowDowngrade: true });
      return 'none';
    });
  }

  /** Simulates a loss of power. The service manager then starts the program, and restarts it up to twice if the program asks. */
  async boot(faults: ReadonlyMap<number, Fault> = new Map()): Promise<LifeEnd> {
    let end: LifeEnd = 'none';
    for (let starts = 0; starts < 3; starts += 1) {
      this.running = undefined;
      if (this.command === undefined) return 'none';
      await this.#begin();
      const found = { restart: false };
      end = await this.#live(starts === 0 ? faults : new Map(), async (context) => {
        if (!existsSync(this.paths.folder)) return 'none';
        const who: Recoverer = {
          worker: 'daemon',
          runningFile: this.#runningFile,
          serving: Promise.resolve(),
        };
        const recovered = await recoverInterrupted(context, this.paths, who);
        found.restart = recovered.restart;
        return recovered.outcome as LifeEnd;
      });
      if (end === 'died') this.running = undefined;
      if (!found.restart) return end;
    }
    return end;
  }

  /**
   * Offers a program, as the daemon does for a watched file.
   *
   * @returns The attempt number given to the helper; `tried` if this program is not tried again; the error if the signal ended the offer; undefined
   * after another error.
   */
  async find(
    program: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<number | 'tried' | UpgradeError | undefined> {
    let found: number | 'tried' | UpgradeError | undefined;
    const offer = {
      program,
      sha256: sha('sha256', readFileSync(program, 'utf8')),
      service: 'model',
      runningFile: this.#runningFile,
      signal,
    };
    await this.#live(
      new Map(),
      async (context) => {
        const { kind } = await offerUpgrade(context, offer, (_helper, { attempt }) => {
          found = attempt;
          return Promise.resolve();
        }).catch((error: unknown) => {
          if (error instanceof UpgradeError && signal.aborted) found = error;
          throw error;
        });
        if (kind === 'tried') found = kind;
        return 'none';
      },
      (_service, task) => task(),
    );
    return found;
  }

  get #runningFile(): string {
    return this.running?.file ?? '';
  }

  get installed(): string | undefined {
    return existsSync(this.target) ? readFileSync(this.target, 'utf8') : undefined;
  }

  get leftovers(): string[] {
    if (!existsSync(this.paths.folder)) return [];
    return readdirSync(this.paths.folder).filter(
      (name) =>
        name !== this.#takenName && !/^(result\.json|upgrade\.log|record-.*\.json)$/.test(name),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #add(text: string): void {
    this.#whole.add(text);
    this.#versions.set(sha('sha256', text), versionOf(text));
  }

  async #live(
    faults: ReadonlyMap<number, Fault>,
    task: (context: UpgradeContext) => Promise<LifeEnd>,
    locked: (service: ServiceControl, task: () => Promise<LifeEnd>) => Promise<LifeEnd> = withLock,
  ): Promise<LifeEnd> {
    const life = Symbol('life');
    this.effects = 0;
    let die: (end: LifeEnd) => void = () => undefined;
    const death = new Promise<LifeEnd>((resolve) => (die = resolve));
    const effects = new Effects(async (effect, action) => {
      this.effects += 1;
      const fault = faults.get(this.effects);
      this.#check(`before ${effect}`);
      if (fault === 'before') {
        die('died');
        return NEVER;
      }
      if (fault !== undefined && fault !== 'after') {
        throw Object.assign(new Error(`${fault}: made up`), { code: fault, errno: -1 });
      }
      const result = await action();
      this.#check(`after ${effect}`);
      if (fault === 'after') {
        die('died');
        return NEVER;
      }
      return result;
    }, 30);
    const context: UpgradeContext = {
      id: 'model',
      ...(!this.#asksPrograms && { knownVersions: this.#versions }),
      effects,
      service: this.#service(effects, life),
      host: HOST,
      probe: () => Promise.resolve(this.#probe()),
      log: new UpgradeLog(),
      ownFile: '',
      defaultConfig: '',
      pipeOf: () => Promise.resolve('pipe'),
      waitMs: 20,
      runMs: 30_000,
    };
    const ended = locked(context.service, () => task(context)).catch((error: unknown) => {
      if (error instanceof UpgradeError) return 'error' as const;
      throw error;
    });
    const end = await Promise.race([ended, death]);
    if (this.#lockHolder === life) this.#lockHolder = undefined;
    return end;
  }

  #service(effects: Effects, life: symbol): ServiceControl {
    return {
      name: 'model',
      defaultTarget: this.target,
      query: () => {
        const state = this.running === undefined ? 'stopped' : 'running';
        return Promise.resolve(this.command && { command: this.command, state });
      },
      setCommand: (command) =>
        effects
          .run('set command', () => Promise.resolve(void (this.command = command)))
          .catch(refuse),
      remove: () =>
        effects
          .run('remove service', () => Promise.resolve(void (this.command = undefined)))
          .catch(refuse),
      start: () => effects.once('start', () => this.#begin()).catch(refuse),
      stop: () =>
        effects.once('stop', () => Promise.resolve(void (this.running = undefined))).catch(refuse),
      lock: () => {
        if (this.#lockHolder !== undefined) return Promise.resolve(undefined);
        this.#lockHolder = life;
        const close = (): Promise<void> => {
          if (this.#lockHolder === life) this.#lockHolder = undefined;
          return Promise.resolve();
        };
        return Promise.resolve({ [Symbol.asyncDispose]: close });
      },
    };
  }

  #begin(): Promise<void> {
    const file = this.command?.imagePath ?? '';
    if (this.running === undefined && existsSync(file)) {
      this.running = { file, text: readFileSync(file, 'utf8') };
    }
    return Promise.resolve();
  }

  #probe(): DaemonAnswer | undefined {
    if (this.running === undefined) return undefined;
    const { text } = this.running;
    const version = text.includes('# lies') ? 'v9.9.9' : versionOf(text);
    return { version, sha1: sha('sha1', text), serving: !text.includes('# idle') };
  }

  #check(moment: string): void {
    const file = this.command?.imagePath;
    if (file === undefined) return;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (text === undefined || !this.#whole.has(text)) {
      this.violations.push(
        `${moment}: the service names ${file}, which is ${text === undefined ? 'not there' : 'not whole'}`,
      );
    }
  }
}

/** Version that {@link release} prints. */
export function versionOf(text: string): string {
  return /version (\S+)"/.exec(text)?.[1] ?? '';
}

function refuse(error: unknown): never {
  throw new UpgradeError('serviceFailed', `the service manager refuses: ${String(error)}`, {
    cause: error,
  });
}
