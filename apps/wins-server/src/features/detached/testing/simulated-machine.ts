import type { HostCommand, HostExit, HostProcess, Leftover, ProcessHost } from '@wins/base';
import { ProcessError } from '@wins/process-manager';
import type { Clock } from '@wins/time';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

const FIRST_PID = 1000;
/** 2026-01-01. */
const BOOT_MS = 1_767_225_600_000;
/** Turns of the event loop without a file operation, after which nothing more happens: the end of a connection and a wait of no time take one each. */
const QUIET_TURNS = 8;
const BUSY = /^(?:FSReq|Close)/;

export interface SimulatedProcess {
  readonly pid: number;
  readonly command: HostCommand;
  /** Keeper or daemon that started the process. */
  readonly starter: string;
  isAlive: boolean;
  /** Whether it was asked to end. */
  isAsked: boolean;
  readonly end: (exit: HostExit) => void;
  write(text: string): void;
  /** Tells the end to the keeper, even after the death of the keeper, so that it closes its files. */
  finish(): void;
}

/** Processes, their owners and the clocks of a machine. Files are real; time passes only on request. */
export class SimulatedMachine {
  readonly processes: SimulatedProcess[] = [];
  /** True: a program ignores the request to stop, and ends by itself or by force. */
  isStubborn = false;
  readonly clock: Clock = {
    now: () => new Date(this.wallMs),
    monotonicMs: () => this.monotonicMs,
    wait: (ms, { signal } = {}) => this.#wait(ms, signal),
  };
  monotonicMs = 0;
  #aheadMs = BOOT_MS;
  #lastPid = FIRST_PID;
  #gate = Promise.resolve();
  readonly #owners = new Set<string>();
  readonly #waits = new Set<{ readonly atMs: number; readonly done: () => void }>();

  get wallMs(): number {
    return this.monotonicMs + this.#aheadMs;
  }

  get living(): readonly SimulatedProcess[] {
    return this.processes.filter(({ isAlive }) => isAlive);
  }

  /** Sets the time of day; what waits is not affected. */
  setClock(byMs: number): void {
    this.#aheadMs += byMs;
  }

  /** Lets time pass, and everything happen that becomes due. */
  async pass(ms: number): Promise<void> {
    const endMs = this.monotonicMs + ms;
    for (;;) {
      const next = [...this.#waits].sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > endMs) break;
      this.monotonicMs = Math.max(this.monotonicMs, next.atMs);
      next.done();
      await this.settled();
    }
    this.monotonicMs = endMs;
  }

  /** Resolves when nothing happens any more until time passes. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await turn();
      // A call of the file system takes less than a timer can measure, so this does not sleep.
      if (process.getActiveResourcesInfo().some((name) => BUSY.test(name))) quiet = -1;
    }
  }

  /** Delays the starts of processes. @returns Function that lets them continue. */
  holdStarts(): () => void {
    let release: () => void = () => undefined;
    this.#gate = new Promise((resolve) => (release = resolve));
    return release;
  }

  /** Returns the host as the process `owner` sees it: a daemon or a keeper. */
  hostFor(owner: string): ProcessHost {
    this.#owners.add(owner);
    return {
      dialect: 'posix',
      daemon: owner,
      isDaemonAlive: (other) => this.#owners.has(other),
      assertTrustedFile: (file) => Promise.resolve(file).then(assertExists),
      assertTrustedDirectory: (folder) => Promise.resolve(folder).then(assertExists),
      ensurePrivateDirectory: (folder) => void mkdirSync(folder, { recursive: true, mode: 0o700 }),
      start: async (command) => {
        await this.#gate;
        // A dead keeper starts nothing.
        if (!this.#owners.has(owner)) await new Promise(() => undefined);
        return this.#start(command, owner);
      },
      findLeftovers: ({ executables, remembered, lineage }) => {
        const found = this.living.filter(({ command, pid }) => {
          const isKnown = remembered.some((each) => each.pid === pid);
          return command.lineage === lineage || isKnown || executables.includes(command.file);
        });
        return Promise.resolve(found.map((process) => this.#leftover(process, owner)));
      },
    };
  }

  /** Ends a daemon or a keeper; its processes live on. */
  kill(owner: string): void {
    this.#owners.delete(owner);
  }

  #leftover(process: SimulatedProcess, asker: string): Leftover {
    const { pid, command, starter } = process;
    return {
      pid,
      evidence: 'marker',
      mark: command.mark,
      claimed: starter !== asker && this.#owners.has(starter),
      isGone: () => Promise.resolve(!process.isAlive),
      terminate: (mode) => this.#terminate(process, mode),
    };
  }

  #terminate(process: SimulatedProcess, mode: 'graceful' | 'force'): Promise<void> {
    process.isAsked = true;
    if (mode === 'force') process.end({ code: 137, signal: 'SIGKILL' });
    else if (!this.isStubborn) process.end({ code: 143, signal: 'SIGTERM' });
    return Promise.resolve();
  }

  #start(command: HostCommand, starter: string): HostProcess {
    assertExists(command.file);
    const [stdout, stderr] = [new Readable({ read }), new Readable({ read })];
    const pid = (this.#lastPid += 1);
    let code: HostExit = { code: 137, signal: 'SIGKILL' };
    let ended: (exit: HostExit) => void = () => undefined;
    const exited = new Promise<HostExit>((resolve) => (ended = resolve));
    const process: SimulatedProcess = {
      pid,
      command,
      starter,
      isAlive: true,
      isAsked: false,
      write: (text) => void stdout.push(text),
      end: (exit) => {
        if (!process.isAlive) return;
        process.isAlive = false;
        code = exit;
        // A dead keeper learns nothing.
        if (this.#owners.has(starter)) process.finish();
      },
      finish: () => {
        for (const output of [stdout, stderr]) if (!output.readableEnded) output.push(null);
        ended(code);
      },
    };
    this.processes.push(process);
    const close = () => [stdout, stderr].forEach((output) => output.destroy());
    return {
      pid,
      startToken: String(pid),
      stdout,
      stderr,
      exited,
      isGone: () => Promise.resolve(!process.isAlive),
      terminate: (mode) => this.#terminate(process, mode),
      usage: () => Promise.resolve(undefined),
      close,
      [Symbol.dispose]: close,
    };
  }

  #wait(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (ms <= 0) return turn();
    return new Promise((resolve, reject) => {
      const wait = { atMs: this.monotonicMs + ms, done: () => leave(resolve) };
      const leave = (then: () => void): void => {
        this.#waits.delete(wait);
        signal?.removeEventListener('abort', abort);
        then();
      };
      const abort = (): void => leave(() => reject(signal?.reason as Error));
      this.#waits.add(wait);
      signal?.addEventListener('abort', abort);
    });
  }
}

function read(): void {
  // The bytes are pushed when the process writes.
}

function assertExists(file: string): void {
  if (existsSync(file)) return;
  throw new ProcessError('notFound', `cannot find ${path.basename(file)}`, { path: file });
}
