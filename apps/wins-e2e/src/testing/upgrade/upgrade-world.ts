import { createWinsClient } from '@wins/wins-api';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram, type Outcome, type RunningProgram } from '../built-program.js';
import { fakeRelease, type Misbehaviour } from './fake-release.js';
import { Supervisor } from './supervisor.js';
import { standIn } from '../packages/package-folder.js';
import { Workspace } from '../workspace.js';

/** Kills the process before or after an effect, or makes the effect fail with a system error. */
export type Fault = 'before' | 'after' | 'EBUSY' | 'ENOSPC' | 'EROFS' | 'EIO' | 'ECONNRESET';

/** Faults. A key is the name of an effect, which fails the first time, or its number, counted from 1. */
export type Faults = Readonly<Record<number | string, Fault>>;

export interface Result {
  readonly id: string;
  readonly outcome: string;
  readonly reason: string;
  readonly from?: { readonly version?: string; readonly sha256: string };
  readonly to?: { readonly version?: string; readonly sha256: string };
}

/**
 * Runs `wins` with injected faults. If UPGRADE_PROGRAM is set, `wins` takes it for the path of its own program. The trace file keeps the count of
 * effects across processes.
 */
const driver = (upgrade: string, wins: string) => `
const fs = require('node:fs');
if (process.env.UPGRADE_PROGRAM) process.argv[1] = process.env.UPGRADE_PROGRAM;
const upgrade = require(${JSON.stringify(upgrade)});
const { faults, trace } = JSON.parse(process.env.UPGRADE_DRIVER);
const earlier = fs.existsSync(trace) ? fs.readFileSync(trace, 'utf8').split('\\n').slice(0, -1) : [];
const die = () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => undefined); };
const around = async (effect, step) => {
  const isFirst = !earlier.includes(effect);
  const fault = faults[earlier.push(effect)] ?? (isFirst ? faults[effect] : undefined);
  fs.appendFileSync(trace, effect + '\\n');
  if (fault === 'before') return die();
  if (fault !== undefined && fault !== 'after') throw Object.assign(new Error(fault + ': made up'), { code: fault, errno: -1 });
  const result = await step();
  return fault === 'after' ? die() : result;
};
require.cache[require.resolve(${JSON.stringify(upgrade)})].exports = {
  ...upgrade,
  runUpgrade: (options, more) => upgrade.runUpgrade(options, { ...more, around }),
};
require(${JSON.stringify(wins)});
`;

/** Removes the lines of completed steps. */
export function saidBeside(stderr: string): string {
  return stderr.replace(/^wins: ✓ .*\n/gm, '');
}

/** A node with a service, in a folder of its own. */
export class UpgradeWorld implements AsyncDisposable {
  readonly target: string;
  readonly folder: string;
  readonly config: string;
  readonly definition: string;
  readonly pipe: string;
  /** Path of the program that runs `wins` and injects faults. The variable `UPGRADE_DRIVER` lists these faults. */
  readonly driver: string;

  private constructor(
    readonly workspace: Workspace,
    readonly supervisor: Supervisor,
    programName: string,
    programs: readonly [upgrade: string, wins: string],
  ) {
    this.definition = supervisor.definition;
    this.target = workspace.path(programName);
    this.folder = `${this.target}.upgrade`;
    this.pipe = workspace.path('pipe');
    this.config = workspace.write(
      'config',
      JSON.stringify({ listen: this.pipe, service: this.definition }),
    );
    this.driver = workspace.write('driver.cjs', driver(...programs));
  }

  static async empty(programName = 'bin/wins'): Promise<UpgradeWorld> {
    // Fails before anything is open that would have to be closed.
    const programs = [standIn('wins-upgrade.cjs'), standIn('wins.cjs')] as const;
    const workspace = new Workspace();
    mkdirSync(path.dirname(workspace.path(programName)), { recursive: true, mode: 0o755 });
    const definition = workspace.path('service.json');
    const environment = { ...workspace.environment, WINS_SERVICE: definition };
    const supervisor = await Supervisor.open(definition, environment);
    return new UpgradeWorld(workspace, supervisor, programName, programs);
  }

  static async running(programName?: string): Promise<UpgradeWorld> {
    const world = await UpgradeWorld.empty(programName);
    writeFileSync(world.target, fakeRelease('v1.0.0'), { mode: 0o755 });
    world.define(`"${world.target}" srv app run --config "${world.config}"`);
    world.supervisor.start();
    return world;
  }

  define(command: string): void {
    writeFileSync(this.definition, JSON.stringify({ command }), { mode: 0o600 });
  }

  release(version: string, misbehaviour?: Misbehaviour): string {
    return this.workspace.write('offered/wins', fakeRelease(version, misbehaviour), 0o755);
  }

  startUp(
    args: readonly string[] = [],
    faults: Faults = {},
    runtime: string = process.execPath,
  ): RunningProgram {
    const settings = { faults, trace: this.workspace.path('trace') };
    return startProgram(
      runtime,
      [this.driver, 'up', '--service', this.definition, '--wait', '60s', ...args],
      { ...this.workspace.environment, UPGRADE_DRIVER: JSON.stringify(settings) },
    );
  }

  up(args: readonly string[] = [], faults: Faults = {}): Promise<Outcome> {
    return this.startUp(args, faults).outcome;
  }

  /** Names of the effects that the upgrade has tried so far, in order. */
  get effects(): string[] {
    const file = this.workspace.path('trace');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Leaves a record of an upgrade for the next daemon, as a helper does at its end. */
  leaveRecord(result: Pick<Result, 'outcome' | 'reason'>): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const id = randomUUID();
    const record = { format: 1, at: new Date(), id, ...result };
    writeFileSync(path.join(this.folder, `record-${id}.json`), JSON.stringify(record), {
      mode: 0o600,
    });
  }

  get result(): Result {
    return JSON.parse(readFileSync(path.join(this.folder, 'result.json'), 'utf8')) as Result;
  }

  /** Files of the upgrade, except the result, the log, and records that no daemon has read. */
  get leftovers(): string[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder).filter(
      (name) => !/^(result\.json|upgrade\.log|record-.*\.json)$/.test(name),
    );
  }

  /** SHA-256 of the program that the service's command names; undefined when this program does not exist. */
  get named(): string | undefined {
    const [program] = this.supervisor.command;
    return existsSync(program) ? sha256(readFileSync(program)) : undefined;
  }

  async answer(): Promise<{ readonly version: string; readonly sha1: string } | undefined> {
    const client = createWinsClient({ address: this.pipe, connectTimeoutMs: 1000 });
    try {
      const { version, checksum } = await client.info();
      return { version, sha1: checksum };
    } catch {
      return undefined;
    } finally {
      await client.close();
    }
  }

  /** Waits until the service is stable: its command names the target, the target runs, and no upgrade is under way. */
  async rest(): Promise<string> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const [named] = this.supervisor.command;
      if (named === this.target && this.leftovers.length === 0) {
        const answer = await this.answer();
        const bytes = readFileSync(this.target);
        // The process may have started before the last rename, so compare contents.
        if (answer?.sha1 === createHash('sha1').update(bytes).digest('hex')) return answer.version;
      }
      if (Date.now() > deadline) {
        throw new Error(
          `no rest: names ${named}, leftovers ${this.leftovers.join(' ')}, started\n` +
            `${this.supervisor.started.join('\n')}\n${this.supervisor.said}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  get installed(): string {
    return sha256(readFileSync(this.target));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
    this.workspace[Symbol.dispose]();
  }
}

export function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
