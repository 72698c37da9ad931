import { posixProcessHost } from '@wins/linux-host';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, linkSync, readFileSync, realpathSync } from 'node:fs';
import type { Workspace } from '../workspace.js';

/** Puts a program at the path of the verified copy of `name`, so that the kernel reports this path for the program's processes. */
export function verifiedCopy(
  { workspace }: { readonly workspace: Workspace },
  program: string,
  name: string,
): string {
  const copy = workspace.path(`rancher-wins-${name}`);
  try {
    linkSync(realpathSync(program), copy);
  } catch {
    copyFileSync(realpathSync(program), copy); // on another disk
  }
  return copy;
}

/** A process that runs a verified copy but that no daemon started. */
export class StrangerProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown>;

  constructor(program: string) {
    this.#child = spawn(program, ['1000'], { stdio: 'ignore' });
    this.ended = once(this.#child, 'exit');
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Identifies this process, in the format of `posixProcessHost().daemon`. */
  get identity(): string {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    const { daemon } = posixProcessHost();
    return `${this.pid}:${startTicks}${daemon.slice(daemon.indexOf('.'))}`;
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}
