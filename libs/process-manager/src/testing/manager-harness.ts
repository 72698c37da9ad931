import type { ProcessHost } from '@wins/base';
import { posixProcessHost } from '@wins/linux-host';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { DecisionRecord } from '../supervision/decision-record.js';
import type { ManagedProcess, ManagerEvent } from '../supervision/managed-process.js';
import type { ProcessManagerOptions } from '../manager-options.js';
import type { OutputReader } from '../output/output-log.js';
import { ProcessError } from '../process-error.js';
import { createProcessManager, type ProcessManager } from '../process-manager.js';
import type { StartRequest } from '../start-request.js';
import { createPrivateDirectory, type PrivateDirectory } from './private-directory.js';
import { writeTestProgram, type TestProgram } from './test-program.js';

/** Creates managers that use a private directory, and records their decisions and events. */
export class ManagerHarness {
  readonly directory: PrivateDirectory = createPrivateDirectory();
  readonly stateDirectory: string;
  /** Folder of the records. */
  readonly runs: string;
  readonly programs: string;
  readonly decisions: DecisionRecord[] = [];
  readonly events: ManagerEvent[] = [];
  readonly #managers: ProcessManager[] = [];

  constructor() {
    this.stateDirectory = path.join(this.directory.path, 'state');
    this.runs = path.join(this.stateDirectory, 'runs');
    this.programs = path.join(this.directory.path, 'bin');
    mkdirSync(this.programs, { mode: 0o755 });
  }

  /** The harness closes the manager. */
  manager(names: readonly string[], options: Partial<ProcessManagerOptions> = {}): ProcessManager {
    const manager = createProcessManager({
      allowed: names.map((name) => ({ path: path.join(this.programs, name) })),
      stateDirectory: this.stateDirectory,
      host: realHost(),
      onDecision: (record) => void this.decisions.push(record),
      onEvent: (event) => this.events.push(event),
      ...options,
    });
    this.#managers.push(manager);
    return manager;
  }

  program(name: string, source: string, interpreter = '/bin/sh'): TestProgram {
    return writeTestProgram(this.programs, name, source, interpreter);
  }

  nodeProgram(name: string, source: string): TestProgram {
    return writeTestProgram(this.programs, name, source);
  }

  async close(): Promise<void> {
    await Promise.all(this.#managers.map((manager) => manager.close()));
    this.directory.close();
  }
}

export class TestOwner {
  readonly #connection = new AbortController();
  readonly id: string;
  readonly disconnected: AbortSignal = this.#connection.signal;

  constructor(id = 'pipe:1') {
    this.id = id;
  }

  disconnect(): void {
    this.#connection.abort();
  }
}

export function requestFor(
  { path: file, sha256 }: TestProgram,
  overrides: Partial<StartRequest> = {},
): StartRequest {
  return { path: file, sha256, args: [], envs: [], owner: new TestOwner(), ...overrides };
}

export async function outputOf(
  run: ManagedProcess,
): Promise<{ stdout: string; stderr: string; skipped: number }> {
  const all: { stdout: Buffer[]; stderr: Buffer[]; skipped: number } = {
    stdout: [],
    stderr: [],
    skipped: 0,
  };
  for await (const chunk of run.read(run.owner.id)) {
    if (chunk.stream === 'skipped') all.skipped += chunk.bytes;
    else all[chunk.stream].push(chunk.bytes);
  }
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('latin1');
  return { stdout: text(all.stdout), stderr: text(all.stderr), skipped: all.skipped };
}

/** Returns stdout up to the text; throws if the output ends first. */
export async function untilOutput(reader: OutputReader, text: string): Promise<string> {
  let seen = '';
  while (!seen.includes(text)) {
    const part = await reader.next();
    if (part === undefined) throw new Error(`output ended without ${text}: ${seen}`);
    if (part.stream === 'stdout') seen += part.bytes.toString('latin1');
  }
  return seen;
}

export async function codeOf(action: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof action === 'function' ? action() : action);
    return 'no error';
  } catch (error) {
    return error instanceof ProcessError ? error.code : String(error);
  }
}

export function realHost(): ProcessHost {
  return posixProcessHost({ failure: (...facts) => new ProcessError(...facts) });
}

/** False for a zombie. */
export function isRunning(pid: number): boolean {
  return !/^[ZX]?$/.test(statOf(pid)?.state ?? '');
}

export function statOf(pid: number): { state: string; startTicks: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Skip the program's name in parentheses, because the name may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startTicks: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
