import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  startProgram,
  startWinsInThread,
  type Outcome,
  type RunningCommand,
  type RunningProgram,
} from '../testing/built-program.js';
import { WINS } from '../testing/workspace.js';

/**
 * A folder for programs and a config. Only administrators may write to it, and its name contains a blank. The config gives the pipes unique names,
 * because all daemons of a Windows host share one namespace.
 */
export class WindowsWorkspace {
  readonly id = randomBytes(4).toString('hex');
  readonly folder = path.join(process.env['ProgramFiles'] ?? 'C:\\', `wins e2e ${this.id}`);
  readonly listen = `wins_${this.id}`;
  readonly proxy = `wins_${this.id}_proxy`;

  readonly #programs: RunningProgram[] = [];

  constructor() {
    mkdirSync(this.folder);
  }

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  write(name: string, content: string | Buffer): string {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** Creates a host program: a copy of node.exe, whose first argument is a script. */
  program(name: string): string {
    const file = this.path('programs', `${name}.exe`);
    mkdirSync(path.dirname(file), { recursive: true });
    copyFileSync(process.execPath, file);
    return file;
  }

  script(name: string, source: string): string {
    return this.write(path.join('scripts', `${name}.cjs`), source);
  }

  config(processPaths: readonly unknown[], proxyPorts: readonly number[] = [], more = {}): string {
    const { listen, proxy } = this;
    const white_list = { processPaths, proxyPorts };
    return this.write('config file', JSON.stringify({ listen, proxy, white_list, ...more }));
  }

  start(...args: string[]): RunningProgram {
    const program = startProgram(process.execPath, [WINS, ...args], process.env);
    this.#programs.push(program);
    return program;
  }

  run(...args: string[]): Promise<Outcome> {
    return this.start(...args).outcome;
  }

  client(...args: readonly string[]): RunningProgram {
    return this.start('cli', ...this.#withPipe(args));
  }

  /** Runs a command as {@link client} does, in a thread. */
  command(...args: readonly string[]): RunningCommand {
    return startWinsInThread(['cli', ...this.#withPipe(args)], process.env);
  }

  #withPipe(args: readonly string[]): readonly string[] {
    const pipe = args[0] === 'proxy' ? ['--proxy', this.proxy] : ['--server', this.listen];
    const end = args.indexOf('--');
    const before = end < 0 ? args : args.slice(0, end);
    return [...before, ...pipe, ...args.slice(before.length)];
  }

  /** Retries, because a virus scanner may briefly keep an ended program open. */
  async remove(): Promise<void> {
    for (const { child } of this.#programs) child.kill('SIGKILL');
    await Promise.all(this.#programs.map(({ outcome }) => outcome));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Whether a process runs. The tests are too short for a PID to be reused. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Polls a condition, without a time limit of its own. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Returns the log folders that services have created. Under Wine, services have a different ProgramData. */
export function serviceLogFolders(): string[] {
  const folder = path.join(process.env['ProgramData'] ?? 'C:\\ProgramData', 'rancher\\wins\\log');
  return [folder, folder.replace(/ProgramData/i, 'users\\Public')].filter(existsSync);
}
