import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Outcome, RunningProgram } from '../testing/built-program.js';
import { isAlive, WindowsWorkspace } from './windows-workspace.js';

/** Prints its PID, then a line every 10 ms. Exits with 7 once a file exists. */
const COUNTER = `const { existsSync } = require('node:fs');
console.log(process.pid);
let line = 0;
setInterval(() => {
  console.log('line ' + line++);
  if (existsSync(process.argv[2])) process.exit(7);
}, 10);`;

export class DetachedNodeOnWindows implements AsyncDisposable {
  /** A program whose `stopSignal` is `CTRL_BREAK`. */
  readonly polite: string;
  readonly #workspace = new WindowsWorkspace();
  readonly #counter = this.#workspace.program('counter');
  readonly #script = this.#workspace.script('counter', COUNTER);
  readonly #config: string;
  #daemon: RunningProgram | undefined;
  #count = 0;

  constructor() {
    this.polite = this.#workspace.program('polite');
    const detached = { allow: true, maxRuns: 8 };
    this.#config = this.#workspace.config([
      { path: this.#counter, detached },
      { path: this.polite, detached, stopSignal: 'CTRL_BREAK' },
    ]);
  }

  async serve(): Promise<void> {
    if (this.#daemon !== undefined) return;
    this.#daemon = this.#workspace.start('srv', 'app', 'run', '--config', this.#config);
    await this.#daemon.said('"msg":"ready"');
  }

  async killDaemon(): Promise<void> {
    this.#daemon?.child.kill('SIGKILL');
    await this.#daemon?.outcome;
    this.#daemon = undefined;
  }

  prc(...args: string[]): Promise<Outcome> {
    return this.follow(...args).outcome;
  }

  follow(...args: string[]): RunningProgram {
    return this.#workspace.client('prc', ...args);
  }

  async detach(): Promise<{ readonly name: string; readonly pid: number }> {
    this.#count += 1;
    const words = ['--path', this.#counter, '--', this.#script, this.#stopFile];
    const started = await this.prc('run', '-d', ...words);
    assert.deepEqual([started.code, started.stderr], [0, '']);
    const name = started.stdout.toString().trim();
    const follower = this.follow('logs', '-f', name);
    await follower.printed('line 9\n');
    follower.child.kill('SIGKILL');
    return { name, pid: Number(follower.stdout().split('\n')[0]) };
  }

  endCounter(): void {
    this.#workspace.write(path.basename(this.#stopFile), '');
  }

  /** Omits killed keepers, whose records stay until the next daemon starts. */
  keepers(): { readonly pid: number; readonly socket: string }[] {
    const folder = path.join(
      process.env['ProgramData'] ?? 'C:\\ProgramData',
      'rancher',
      'wins',
      'state',
      this.#workspace.listen,
      'runs',
    );
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names
      .filter((name) => name.startsWith('keeper.'))
      .map((name) => {
        const record: unknown = JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
        const { keeper, socket } = record as { readonly keeper: string; readonly socket: string };
        return { pid: Number.parseInt(keeper, 10), socket };
      })
      .filter(({ pid }) => isAlive(pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endCounter();
    await this.#workspace.remove();
  }

  get #stopFile(): string {
    return this.#workspace.path(`stop ${this.#count}`);
  }
}
