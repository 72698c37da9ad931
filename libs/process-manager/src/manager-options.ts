import {
  reporter,
  type PortOpener,
  messageOf,
  type ProcessHost,
  withDefaults,
  type Optional,
} from '@wins/base';
import type { ProcessHostOptions } from '@wins/trusted-files';
import path from 'node:path';
import type { AllowedExecutable } from './policy/executable-policy.js';
import { ProcessError } from './process-error.js';
import type { SignatureReader } from './staging/staged-binary.js';
import type { DecisionRecord } from './supervision/decision-record.js';
import type { ProcessOwner, ManagerEvent } from './supervision/managed-process.js';

/** Default time between asking a process tree to end and killing it. */
export const GRACE_MS = 10_000;
// Longest delay of a Node timer; a longer one fires at once.
const MAX_TIMER_MS = 2_147_483_647;

/** Divides the run slots of a manager among clients. */
export interface RunSlots {
  /**
   * Reserves a slot for a start and its later run. Returns the function that releases the slot, or undefined if the owner has no free slot.
   * To free the slot for another client, the implementation may later call `end`, which ends the start or run.
   */
  take(owner: ProcessOwner, end: () => void): (() => void) | undefined;
  /** Reserves quota for the files of a run, in bytes; returns a release function or undefined, as `take` does. */
  takeFileBytes(owner: ProcessOwner, bytes: number): (() => void) | undefined;
}

/** A host, or a function that creates one. The options make the created host throw `ProcessError`s. */
export type HostOf = ProcessHost | ((options: ProcessHostOptions) => ProcessHost);

export function hostOf(host: HostOf): ProcessHost {
  if (typeof host !== 'function') return host;
  return host({ failure: (...facts) => new ProcessError(...facts) });
}

/** Limits of a manager. Programs keep the defaults; specs lower them. */
export interface ManagerLimits {
  /** Time in milliseconds for the client to take the lease before the run is stopped. Default 30,000. */
  readonly leaseTimeoutMs: number;
  /** Time in milliseconds for which clients can find an ended run, unless its lease was released. Default 60,000. */
  readonly lingerMs: number;
  /**
   * Time in milliseconds to wait for a run's first reader. Until then no output is dropped, and a program that writes
   * more than 1 MiB is paused. Default 10,000.
   */
  readonly firstReaderMs: number;
  /** Maximum number of runs that start or run at once, unless `slots` divides them. Also the maximum number of ended runs that clients can find. Default 256. */
  readonly maxProcesses: number;
}

const DEFAULT_LIMITS: ManagerLimits = {
  leaseTimeoutMs: 30_000,
  lingerMs: 60_000,
  firstReaderMs: 10_000,
  maxProcesses: 256,
};

/** Options of `createProcessManager`. The list of programs, the state directory and the host are required. */
export interface ProcessManagerOptions {
  /** Programs that may run; empty means none. `checkAllowedExecutables` finds faulty entries. */
  readonly allowed: readonly AllowedExecutable[];
  /**
   * Advice in the message that refuses an unlisted program, such as where the list is. Every client may read this
   * text. Default: none.
   */
  readonly howToAllow?: string | undefined;
  /** Absolute path of a directory that only this daemon uses; created with mode 0700 when absent. */
  readonly stateDirectory: string;
  /** Environment from which runs get only variables about the machine (`TZ`, `SystemRoot`, …). Default: the daemon's environment. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Variables that the operator adds to every run. Default: none. */
  readonly processEnvironment?: Readonly<Record<string, string>> | undefined;
  /** Access to the operating system: `posixProcessHost` of `@wins/linux-host`, `jobObjectProcessHost` of `@wins/windows-host`. */
  readonly host: HostOf;
  /** Creates a signature reader for an entry with `signerRule`. Default: none; programs of such entries are refused. */
  readonly readSignature?: (() => SignatureReader) | undefined;
  /** Opens the ports that runs expose, for example in a firewall. Default: none; the manager opens no ports. */
  readonly portOpener?: PortOpener | undefined;
  /**
   * Time in milliseconds between asking a process tree to end and killing it. Also limits the wait for killed processes
   * to end and the wait for outputs to close. Default 10,000.
   */
  readonly graceMs?: number | undefined;
  /** Divides the slots for starts and runs among clients. Default: first come, first served, up to 256. */
  readonly slots?: RunSlots | undefined;
  /** Limits, which specs lower. See {@link ManagerLimits} for the defaults. */
  readonly limits?: Optional<ManagerLimits> | undefined;
  /**
   * Receives one record per decision, before its effect. If the function throws, the request is refused as `auditUnavailable`.
   * A start or a stop waits for a returned promise, and is refused if the promise rejects. Leases and readers do not wait.
   */
  readonly onDecision?: ((record: DecisionRecord) => void | Promise<void>) | undefined;
  /** Receives events in order, each in a microtask of its own. */
  readonly onEvent?: ((event: ManagerEvent) => unknown) | undefined;
}

export type CompleteOptions = Readonly<ReturnType<typeof completeOptions>>;

/** @throws ProcessError `invalidArgument`; `hostUnsupported` if there is no host. */
export function completeOptions(options: ProcessManagerOptions) {
  const { stateDirectory, graceMs = GRACE_MS, onDecision } = options;
  if (!path.isAbsolute(stateDirectory)) {
    throw invalid('stateDirectory', stateDirectory, 'an absolute path');
  }
  // A JavaScript caller may omit the host.
  if ((options.host as HostOf | undefined) === undefined) {
    const remedy =
      'Pass jobObjectProcessHost of @wins/windows-host or posixProcessHost of @wins/linux-host';
    const message = `cannot create a process manager: no host is given. ${remedy}`;
    throw new ProcessError('hostUnsupported', message);
  }
  if (!Number.isSafeInteger(graceMs) || graceMs < 0 || graceMs > MAX_TIMER_MS)
    throw invalid('graceMs', String(graceMs), `a whole number from 0 to ${MAX_TIMER_MS}`);
  const limits = withDefaults(DEFAULT_LIMITS, options.limits);
  const onEvent = reporter(options.onEvent);
  const { howToAllow, portOpener, readSignature } = options;
  return {
    graceMs,
    limits,
    allowed: [...options.allowed],
    howToAllow,
    stateDirectory,
    environment: options.environment ?? process.env,
    processEnvironment: options.processEnvironment ?? {},
    host: hostOf(options.host),
    portOpener,
    readSignature,
    slots: options.slots ?? slotsFor(limits.maxProcesses),
    onDecision: onDecision === undefined ? () => undefined : refusingUnrecorded(onDecision),
    // Use a separate microtask, because the listener may call the manager, which is in the middle of a change.
    onEvent: (event: ManagerEvent) => queueMicrotask(() => onEvent(event)),
  };
}

function slotsFor(most: number): RunSlots {
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
  const message = `cannot create a process manager: ${name} is ${found}; wanted ${wanted}`;
  return new ProcessError('invalidArgument', message);
}
