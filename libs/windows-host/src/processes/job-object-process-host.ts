import { messageOf, quoteText } from '@wins/wins-program';
import { holdFile, type FileHold } from '../access/file-hold.js';
import {
  inspectionCode,
  startCode,
  windowsFailure,
  type HostFailureCode,
  type MakeHostFailure,
} from './job-object-host-failure.js';
import {
  leftoverTree,
  pickLeftovers,
  type FoundLeftover,
  type LeftoverSearch,
} from './job-object-leftovers.js';
import { JobObjectProcess } from './job-object-process.js';
import { distrustOfFile, distrustOfFolder, ensurePrivateFolder } from '../access/trusted-file.js';
import type { Distrust } from '@wins/trusted-files';
import type { Program } from './windows-process-start.js';
import { listProcesses } from './windows-process-table.js';
import { isRunning, ownIdentity } from './windows-process.js';

/** Options of {@link jobObjectProcessHost}. */
export interface JobObjectProcessHostOptions {
  /** Makes the errors that the host throws, of the class that its user expects. Default: a `WindowsError`. */
  readonly failure?: MakeHostFailure;
}

/** What to start, decided and verified before. */
export interface JobObjectCommand extends Program {
  /** Whether it may start processes that outlive it and the daemon, if it asks for that. Default false. */
  readonly mayBreakAway?: boolean;
}

/** A process of an earlier daemon, and how to end it. */
export interface JobObjectLeftover extends FoundLeftover {
  /** True once it does not run; a failure to find out counts as false. Never throws. */
  isGone(): Promise<boolean>;
  /** Ends it at once. Repeatable; never throws. */
  terminate(): Promise<void>;
}

/** Runs programs in job objects. Nothing is to be closed but what it starts and holds. */
export interface JobObjectProcessHost {
  readonly dialect: 'windows';
  /** This process: `PID:time of its creation`. */
  readonly daemon: string;
  /** Whether the process of such a text runs; one that may not be asked counts as running. */
  isDaemonAlive(daemon: string): boolean;
  /** See {@link distrustOfFile}. @throws `notFound`, `pathNotTrusted`, `unknown`. */
  assertTrustedFile(path: string): Promise<void>;
  /** See {@link distrustOfFolder}. @throws `notFound`, `pathNotTrusted`, `unknown`. */
  assertTrustedDirectory(path: string): Promise<void>;
  /** See {@link ensurePrivateFolder}. @throws `stateUnavailable`. */
  ensurePrivateDirectory(path: string): void;
  /** See {@link holdFile}. @throws `stagingFailed`. */
  holdFile(path: string): Promise<FileHold>;
  /** See {@link JobObjectProcess.start}. @throws `spawnFailed`, `invalidArgument`. */
  start(command: JobObjectCommand): Promise<JobObjectProcess>;
  /** See {@link pickLeftovers}. @throws `unknown`. */
  findLeftovers(search: LeftoverSearch): Promise<readonly JobObjectLeftover[]>;
}

/**
 * Makes the process host of Windows: one job object per program, which ends with its run and with this process, however that
 * ends. Nothing leaves its job but what a command with `mayBreakAway` starts outside of it on purpose.
 *
 * @throws WindowsError `unavailable` on other systems.
 */
export function jobObjectProcessHost(
  options: JobObjectProcessHostOptions = {},
): JobObjectProcessHost {
  const { failure = windowsFailure } = options;
  const own = ownIdentity();
  const attempt = <T>(
    act: () => T,
    codeOf: (error: unknown) => HostFailureCode,
    path?: string,
  ): T => {
    try {
      return act();
    } catch (cause) {
      const message = messageOf(cause);
      throw failure(codeOf(cause), message, path === undefined ? { cause } : { cause, path });
    }
  };
  const assertTrusted = (
    tried: string,
    path: string,
    wanted: 'file' | 'folder',
    look: () => Distrust | undefined,
  ): void => {
    const distrust = attempt(look, inspectionCode, path);
    if (distrust === undefined) return;
    const where = distrust.path === path ? '' : ` because of ${quoteText(distrust.path)}`;
    const message = `${tried} ${quoteText(path)}${where}: ${distrust.found}; wanted a ${wanted} that only administrators and the daemon's account can change`;
    throw failure('pathNotTrusted', message, { path, rule: distrust.rule });
  };
  return {
    dialect: 'windows',
    daemon: `${own.pid}:${own.created}`,
    isDaemonAlive: (daemon) => {
      const [, pid, created = ''] = /^([1-9][0-9]{0,9}):([0-9]{1,20})$/.exec(daemon) ?? [];
      return pid !== undefined && isRunning({ pid: Number(pid), created });
    },
    assertTrustedFile: rejecting((path) =>
      assertTrusted('cannot run', path, 'file', () => distrustOfFile(path)),
    ),
    assertTrustedDirectory: rejecting((path) =>
      assertTrusted('cannot work in', path, 'folder', () => distrustOfFolder(path)),
    ),
    ensurePrivateDirectory: (path) => {
      const make = (): void => ensurePrivateFolder(path);
      attempt(make, () => 'stateUnavailable', path);
    },
    holdFile: rejecting((path) => {
      const hold = (): FileHold => holdFile(path);
      return attempt(hold, () => 'stagingFailed', path);
    }),
    start: rejecting(({ mayBreakAway = false, ...program }) => {
      const start = (): JobObjectProcess => JobObjectProcess.start(program, { mayBreakAway });
      return attempt(start, startCode, program.file);
    }),
    findLeftovers: rejecting((search) => {
      const find = (): readonly FoundLeftover[] => pickLeftovers(listProcesses(), search, own.pid);
      const found = attempt(find, () => 'unknown');
      return found.map((leftover) => ({ ...leftover, ...leftoverTree(leftover) }));
    }),
  };
}

/** What it throws rejects. It acts at once, and nothing is waited for. */
function rejecting<A, T>(act: (argument: A) => T): (argument: A) => Promise<T> {
  return (argument) => new Promise((resolve) => resolve(act(argument)));
}
