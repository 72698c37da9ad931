import { DetachedProcess, killProcess, processOf } from '@wins/base/testing';
import { FolderNode } from '@wins/installation/testing';
import { parseServiceCommand } from '@wins/service-upgrade';
import { windowsCommandLine } from '@wins/windows-host';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { CsiProxyNode } from '../csi-proxy-system.js';

export const SERVICE = { kind: 'service', name: 'csiproxy' } as const;
export const RUNNING = { kind: 'running', service: SERVICE.name } as const;

/** Returns the folder of the node that replaces Windows in specs; undefined if the environment names none. */
export function nodeFolder(): string | undefined {
  const folder = process.env['WINS_CSI_PROXY_SERVICE'];
  return folder !== undefined && path.isAbsolute(folder) ? folder : undefined;
}

/** A node in a folder. Its service csiproxy is a detached process that serves the socket that `CSI_PROXY_PIPE` names. Programs are scripts. */
export class LinuxCsiNode implements CsiProxyNode {
  readonly platform = 'linux';
  readonly pipe: string;
  readonly adoptedProgram: string;
  readonly programMagic = Buffer.from('#!');
  readonly stores: FolderNode['stores'];
  readonly strangersIn: FolderNode['strangersIn'];
  /** The service. */
  readonly process: DetachedProcess;

  /** @param folder - Absolute path. The Go release's program is in `System32` beside it. */
  constructor(folder: string, graceMs = 200) {
    mkdirSync(folder, { recursive: true });
    this.pipe = path.join(folder, 'pipe');
    this.adoptedProgram = path.join(path.dirname(folder), 'System32', 'csi-proxy.exe');
    this.process = new DetachedProcess(path.join(folder, 'csiproxy.pid'));
    const node = new FolderNode({
      root: folder,
      runner: {
        start: (_name, { command }) => this.#start(command),
        stop: () => this.process.stop(graceMs),
        isRunning: () => this.process.pid !== undefined,
      },
    });
    this.stores = node.stores;
    this.strangersIn = node.strangersIn;
  }

  async #start(command: string): Promise<void> {
    const { imagePath: file, args } = parseServiceCommand(command) ?? {};
    if (file === undefined || args === undefined) throw new Error('it has no program');
    const environment = { PATH: process.env['PATH'], CSI_PROXY_PIPE: this.pipe };
    await this.process.start({ file, args, environment }, 0);
  }

  /** Registers the service and starts it, as another installer does. */
  async install(program: string, args: readonly string[] = []): Promise<void> {
    const command = windowsCommandLine(program, args);
    await this.stores.service.write(SERVICE, { command, startType: 'automatic' }, undefined);
    await this.stores.running.write(RUNNING, 'present', undefined);
  }

  /** The words of the service's command; empty without the service. */
  async command(): Promise<readonly string[]> {
    const { command = '' } = (await this.stores.service.read(SERVICE)) ?? {};
    const { imagePath, args = [] } = parseServiceCommand(command) ?? {};
    return imagePath === undefined ? [] : [imagePath, ...args];
  }

  async endLeftovers(program: string): Promise<void> {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const found = runsProgram(pid, program) ? processOf(Number(pid)) : undefined;
      if (found !== undefined) await killProcess(found);
    }
  }

  async isServing(): Promise<boolean> {
    const socket = connect(this.pipe);
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}

/** Compares the first two words, because a script's command line starts with its interpreter. */
function runsProgram(pid: string, program: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.slice(0, 2).includes(program);
  } catch {
    return false;
  }
}
