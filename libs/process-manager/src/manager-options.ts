import { type PortOpener, messageOf, type ProcessHost } from '@wins/base';
import type { ProcessHostOptions } from '@wins/trusted-files';
import path from 'node:path';

import type { AllowedExecutable } from './policy/executable-policy.js';

import { ProcessError } from './process-error.js';
import { MAX_EXECUTABLE_BYTES, type SignatureReader } from './staging/staged-binary.js';
import type { DecisionRecord } from './supervision/decision-record.js';
import type { ProcessOwner, ManagerEvent } from './supervision/managed-process.js';

// The longest that a timer of Node can run; beyond it, it fires at once.
const MAX_TIMER_MS = 2_147_483_647;

/** Shares the runs of a manager among clients. */
export interface RunPlaces {
  /**
   * Takes a place for a start and for the run that it becomes.
   *
   * @param end - Ends both, so that another client has room.
   * @returns what gives the place back, once; undefined when there is none for this owner.
   */
  take(owner: ProcessOwner, end: () => void): (() => void) | undefined;
  /** Takes room for the files of a run, in bytes. @returns as `take`. */
  takeFileBytes(owner: ProcessOwner, bytes: number): (() => void) | undefined;
}

/** A host, or what makes one whose errors are `ProcessError`s. */
export type HostOf = ProcessHost | ((options: ProcessHostOptions) => ProcessHost);

/** The host that is meant. */
export function hostOf(host: HostOf): ProcessHost {
  if (typeof host !== 'function') return host;
  return host({ failure: (...facts) => new ProcessError(...facts) });
}

/** How a manager is set up; `allowed`, `stateDirectory` and `host` must be given. */
export interface ProcessManagerOptions {
  /** Programs that may run; empty means none. See `checkAllowedExecutables` for faulty entries. */
  readonly allowed: readonly AllowedExecutable[];
  /**
   * Remedy for a program that is not listed, for the message of its refusal, which every client may read: where the list
   * is. Default: nothing is said.
   */
  readonly howToAllow?: string;
  /** Absolute path of a directory of this daemon alone; created with mode 0700 when absent. */
  readonly stateDirectory: string;
  /**
   * Where facts about the machine are read (`TZ`, `SystemRoot`, `ProgramData`, …) of which every run's environment is made;
   * nothing else of it reaches a run. Default: the daemon's own environment.
   */
  readonly environment?: NodeJS.ProcessEnv;
  /** Variables that the operator adds to every run. See `checkProcessEnvironment`. Default: nothing. */
  readonly processEnvironment?: Readonly<Record<string, string>>;
  /** The operating system: `posixProcessHost` of `@wins/linux-host`, `jobObjectProcessHost` of `@wins/windows-host`. */
  readonly host: HostOf;
  /** Reads signatures, for entries with `signedBy`. Default: nothing does, and the programs of such entries are refused. */
  readonly readSignature?: () => SignatureReader;
  /** Opens the ports that runs expose, as a firewall needs it. Default: none; they are open or not as the host has it. */
  readonly portOpener?: PortOpener;
  /** Between asking a tree to end and making it, and the bound of each later wait. Default 10,000. */
  readonly graceMs?: number;
  /** How long a run waits for its lease to be held before it is stopped. Default 30,000. */
  readonly leaseTimeoutMs?: number;
  /** How long an ended run is remembered while its lease was not given back. Default 60,000. */
  readonly lingerMs?: number;
  /**
   * How long a run's output waits for its first reader, in milliseconds, before the oldest is
   * dropped; a program that writes more than `maxBufferedBytes` waits as long. Default 10,000.
   */
  readonly firstReaderMs?: number;
  /**
   * Output kept per run, at least, in bytes (64 KiB more at most); also how far a reader may lag
   * before its child waits. Default 1 MiB.
   */
  readonly maxBufferedBytes?: number;
  /** Runs that may start or run at once, and ended runs remembered beside them. Default 256. */
  readonly maxProcesses?: number;
  /** Shares what starts or runs among clients. Default: first come, first served, up to `maxProcesses`. */
  readonly places?: RunPlaces;
  /** The largest executable that is copied, in bytes. Default 2 GiB. */
  readonly maxExecutableBytes?: number;
  /**
   * Gets one record per decision, before its effect; what it throws refuses the request as `auditUnavailable`. A promise is
   * waited for before a start and a stop, and refuses them when it rejects; a lease and a reader wait for none.
   */
  readonly onDecision?: (record: DecisionRecord) => void | Promise<void>;
  /** Gets what happens, in order, each in a microtask of its own; what it throws is uncaught. */
  readonly onEvent?: (event: ManagerEvent) => void;
}

/** The same, complete and checked, with callbacks that cannot do harm by throwing. */
export type CompleteOptions = Readonly<
  Required<Omit<ProcessManagerOptions, 'host' | 'howToAllow' | 'portOpener' | 'readSignature'>>
> &
  Readonly<Record<'host', ProcessHost>> &
  Pick<ProcessManagerOptions, 'howToAllow' | 'portOpener' | 'readSignature'>;

/** @throws ProcessError `invalidArgument`, `hostUnsupported` without a host. */
export function completeOptions(options: ProcessManagerOptions): CompleteOptions {
  const { stateDirectory, onDecision, onEvent } = options;
  if (!path.isAbsolute(stateDirectory)) {
    throw invalid('stateDirectory', stateDirectory, 'an absolute path');
  }
  // A caller in JavaScript may leave it out.
  if ((options.host as HostOf | undefined) === undefined) {
    throw new ProcessError(
      'hostUnsupported',
      'cannot create a process manager: no host is given. Pass jobObjectProcessHost of @wins/windows-host or posixProcessHost of @wins/linux-host',
    );
  }
  const numbers = numbersOf(options);
  const { howToAllow, portOpener, readSignature } = options;
  return {
    ...numbers,
    allowed: [...options.allowed],
    ...(howToAllow !== undefined && { howToAllow }),
    stateDirectory,
    environment: options.environment ?? process.env,
    processEnvironment: options.processEnvironment ?? {},
    host: hostOf(options.host),
    ...(portOpener !== undefined && { portOpener }),
    ...(readSignature !== undefined && { readSignature }),
    places: options.places ?? placesFor(numbers.maxProcesses),
    onDecision: onDecision === undefined ? () => undefined : refusingUnrecorded(onDecision),
    // In a microtask of its own, so that an error of a listener cannot stop a supervision half-way.
    onEvent:
      onEvent === undefined ? () => undefined : (event) => queueMicrotask(() => onEvent(event)),
  };
}

/** The default of each number, the least and the most that it may be. */
const NUMBERS = {
  maxProcesses: [256, 1, 65_536],
  graceMs: [10_000, 0, MAX_TIMER_MS],
  leaseTimeoutMs: [30_000, 1, MAX_TIMER_MS],
  lingerMs: [60_000, 0, MAX_TIMER_MS],
  firstReaderMs: [10_000, 0, MAX_TIMER_MS],
  maxBufferedBytes: [1024 * 1024, 1, 2 ** 30],
  maxExecutableBytes: [MAX_EXECUTABLE_BYTES, 1, Number.MAX_SAFE_INTEGER],
} as const;

function numbersOf(options: ProcessManagerOptions): Record<keyof typeof NUMBERS, number> {
  const entries = Object.entries(NUMBERS).map(([name, [fallback, min, max]]) => {
    const value = options[name as keyof typeof NUMBERS] ?? fallback;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return [name, value];
    throw invalid(name, String(value), `a whole number from ${min} to ${max}`);
  });
  return Object.fromEntries(entries) as Record<keyof typeof NUMBERS, number>;
}

function placesFor(most: number): RunPlaces {
  let taken = 0;
  return {
    take: () => {
      if (taken >= most) return undefined;
      taken += 1;
      return () => (taken -= 1);
    },
    takeFileBytes: () => () => undefined,
  };
}

type OnDecision = NonNullable<ProcessManagerOptions['onDecision']>;

/** A decision that cannot be recorded is refused: `auditUnavailable`. */
function refusingUnrecorded(onDecision: OnDecision): OnDecision {
  return (record) => {
    try {
      const recorded = onDecision(record);
      return recorded instanceof Promise ? recorded.catch(throwUnrecorded) : undefined;
    } catch (cause) {
      return throwUnrecorded(cause);
    }
  };
}

function throwUnrecorded(cause: unknown): never {
  const found = messageOf(cause);
  throw new ProcessError('auditUnavailable', `cannot record the decision: ${found}`, { cause });
}

function invalid(name: string, found: string, wanted: string): ProcessError {
  return new ProcessError(
    'invalidArgument',
    `cannot create a process manager: ${name} is ${found}; wanted ${wanted}`,
  );
}
