import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { ROOT, WINS, Workspace } from '../workspace.js';

const BASH = ['bash', '--noprofile', '--norc'];
/** Runs a command in its own network namespace, so that the ports that a page uses are free. */
const ISOLATED = ['unshare', '--net', '/bin/sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const [unshare = '', ...isolated] = ISOLATED;
const canIsolate = spawnSync(unshare, [...isolated, 'true'], { stdio: 'ignore' }).status === 0;

/** Runs the code blocks of a page in one shell, in the checkout. */
export class ShellSession implements AsyncDisposable {
  readonly #shell: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  readonly #workspace = new Workspace();
  #printed = '';

  /** @param options - `wins`: whether the shell knows `wins`, as after an installation. */
  constructor({ wins }: { readonly wins: boolean }) {
    const [file = '', ...args] = canIsolate ? [...ISOLATED, ...BASH] : BASH;
    const { NODE_OPTIONS: _options, WINS_RUNTIME_DIR: _folder, ...environment } = process.env;
    const env = { ...environment, TMPDIR: this.#workspace.folder };
    // Start a process group. Killing the group also ends the programs that the commands of a page leave running.
    this.#shell = spawn(file, args, {
      cwd: ROOT,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#ended = once(this.#shell, 'close');
    this.#shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
    });
    // Imitates an interactive shell: aliases work, and both streams are shown.
    this.#shell.stdin.write('shopt -s expand_aliases\nexec 2>&1\n');
    if (wins) this.#shell.stdin.write(`alias wins='${process.execPath} ${WINS}'\n`);
  }

  async run(commands: string): Promise<string> {
    this.#printed = '';
    const end = `\0${Math.random()}\n`;
    this.#shell.stdin.write(`${commands}\nprintf '\\0%s\\n' '${end.slice(1, -1)}'\n`);
    while (!this.#printed.includes(end)) {
      if (this.#shell.exitCode !== null) throw new Error(`the shell ended: ${this.#printed}`);
      await Promise.race([once(this.#shell.stdout, 'data'), this.#ended]);
    }
    return this.#printed.slice(0, this.#printed.indexOf(end));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#shell;
    if (pid !== undefined) process.kill(-pid, 'SIGTERM');
    this.#shell.kill('SIGKILL');
    await this.#ended;
    this.#workspace[Symbol.dispose]();
  }
}
