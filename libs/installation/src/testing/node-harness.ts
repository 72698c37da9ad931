import type { ConfigChanges } from '../desired/config-changes.js';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readFacts } from '../facts/read-facts.js';
import type { NodeFacts } from '../facts/node-facts.js';
import { planInstall } from '../plan/plan-install.js';
import { planUninstall } from '../plan/plan-uninstall.js';
import { applyPlan, type ApplyOutcome, finishOrUndo, type Recovered } from '../run/apply-plan.js';
import type { Around, InstallContext } from '../install-context.js';
import type { NodeHost } from '../ports.js';
import { uninstall, type UninstallReport } from '../run/uninstall.js';
import { installPaths } from '../desired/install-paths.js';
import type { DesiredInstallation, StagedProgram } from '../desired/desired-installation.js';
import { PosixNode, type PosixNodeOptions } from './posix-node.js';
import type { ServiceRunner } from './posix-system.js';

/** In memory, because the tests make thousands of durable writes. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** The installer dies before or after a change, or the change fails. */
export type Fault = 'before' | 'after' | 'EIO';

/** A node with real files; the test controls its services. */
export class TestNode implements Disposable {
  readonly root = realpathSync(mkdtempSync(path.join(MEMORY, 'wins-node-')));
  readonly paths = installPaths('linux', { root: path.join(this.root, 'system') });
  readonly running = new Set<string>();
  /** Effects since the last call of `context`. */
  effects: string[] = [];
  readonly runner: ServiceRunner = {
    start: (name) => Promise.resolve(void this.running.add(name)),
    stop: (name) => Promise.resolve(void this.running.delete(name)),
    isRunning: (name) => this.running.has(name),
  };

  constructor() {
    // Creates the folders that every system has.
    this.host();
  }

  get #system(): string {
    return path.join(this.root, 'system');
  }

  host(options: Partial<PosixNodeOptions> = {}): PosixNode {
    mkdirSync(this.#system, { recursive: true, mode: 0o755 });
    return new PosixNode({ root: this.#system, runner: this.runner, ...options });
  }

  program(version: string): StagedProgram {
    const file = path.join(this.root, `fetched-${version}`);
    const content = `#!/bin/sh\necho ${version}\n`;
    writeFileSync(file, content);
    return { file, version, sha256: digestOf(content) };
  }

  put(file: string, content: string, mode = 0o600): void {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, content, { mode });
  }

  snapshot(): readonly string[] {
    const lines = namesIn(this.#system)
      .sort()
      .map((name) => {
        const stats = lstatSync(path.join(this.#system, name));
        const content = stats.isFile() ? readFileSync(path.join(this.#system, name), 'utf8') : '';
        return `${name} ${stats.mode.toString(8)} ${name === 'system.json' ? canonical(content) : content}`;
      });
    // Omit the line of an empty system.json, because this file does not exist before the first write.
    const empty = lines.filter((line) => !line.startsWith('system.json ') || !line.endsWith(EMPTY));
    return [...empty, `running ${[...this.running].sort().join()}`];
  }

  context(
    faults: ReadonlyMap<number, Fault> = new Map(),
    options: Partial<PosixNodeOptions> = {},
  ): Life {
    this.effects = [];
    let die: () => void = () => undefined;
    const death = new Promise<'died'>((resolve) => (die = () => resolve('died')));
    const around: Around = async (effect, action) => {
      const fault = faults.get(this.effects.push(effect));
      if (fault === 'EIO')
        throw Object.assign(new Error('EIO: made up'), { code: 'EIO', errno: -5 });
      if (fault === 'before') {
        die();
        return new Promise<never>(() => undefined);
      }
      const result = await action();
      if (fault === 'after') {
        die();
        return new Promise<never>(() => undefined);
      }
      return result;
    };
    const versionOf = (program: string): Promise<string | undefined> =>
      Promise.resolve(/echo (\S+)/.exec(readFileSync(program, 'utf8'))?.[1]);
    const host = this.host({ around, versionOf, ...options });
    return { context: { host, paths: this.paths, around }, death };
  }

  facts(desired: DesiredInstallation): Promise<NodeFacts> {
    return readFacts(this.context().context, desired);
  }

  async install(
    desired: DesiredInstallation,
    faults?: ReadonlyMap<number, Fault>,
    options?: Partial<PosixNodeOptions>,
  ): Promise<
    ApplyOutcome | { readonly outcome: 'died' | 'nothing' | 'refused'; readonly reason?: string }
  > {
    const { context, death } = this.context(faults, options);
    const life = async (): ReturnType<TestNode['install']> => {
      await finishOrUndo(context);
      const plan = planInstall(await readFacts(context, desired), desired, editConfig);
      if (plan.kind === 'steps') return applyPlan(context, plan);
      return { outcome: plan.kind === 'nothing' ? 'nothing' : 'refused', reason: plan.reason };
    };
    return Promise.race([life(), death.then((outcome) => ({ outcome }))]);
  }

  async recover(
    faults?: ReadonlyMap<number, Fault>,
  ): Promise<Recovered['outcome'] | 'died' | 'none'> {
    const { context, death } = this.context(faults);
    const life = finishOrUndo(context).then((found) => found?.outcome ?? ('none' as const));
    return Promise.race([life, death]);
  }

  async uninstall(
    installation: DesiredInstallation,
    how: { readonly isForced?: boolean; readonly keepsData?: boolean } = {},
    faults?: ReadonlyMap<number, Fault>,
    options?: Partial<PosixNodeOptions>,
  ): Promise<
    UninstallReport | 'died' | { readonly kind: 'nothing' | 'refusal'; readonly reason: string }
  > {
    const { context, death } = this.context(faults, options);
    const { service, paths } = installation;
    const life = async (): ReturnType<TestNode['uninstall']> => {
      const facts = await readFacts(context, installation);
      const programs = [paths.program, ...(facts.program ? [facts.program.path] : [])];
      const plan = planUninstall(facts, { service, programs, ...how });
      return plan.kind === 'uninstall' ? uninstall(context, plan) : plan;
    };
    return Promise.race([life(), death]);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

interface Life {
  readonly context: InstallContext<NodeHost>;
  readonly death: Promise<'died'>;
}

/** Each line of the config is `key: JSON`. */
export function editConfig(config: Buffer, changes: ConfigChanges): Buffer {
  let edited = config.toString();
  for (const [key, value] of Object.entries(changes)) {
    const line = new RegExp(`^${key.replace(/\./g, '\\.')}(\\.\\S+)?: .*\\n`, 'gm');
    const without = edited.replace(line, '');
    const wanted = `${key}: ${JSON.stringify(value)}\n`;
    if (value === null) edited = without;
    else if (!edited.includes(wanted)) edited = without + wanted;
  }
  return Buffer.from(edited);
}

export function plainInstallation(
  node: TestNode,
  more: Partial<DesiredInstallation> = {},
): DesiredInstallation {
  return { paths: node.paths, service: 'rancher-wins', program: node.program('v1.1.0'), ...more };
}

function namesIn(folder: string, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(prefix, entry.name);
    return entry.isDirectory() ? [name, ...namesIn(path.join(folder, entry.name), name)] : [name];
  });
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const EMPTY = '{"services":{},"things":{}}';

function canonical(json: string): string {
  return JSON.stringify(sorted(JSON.parse(json)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
