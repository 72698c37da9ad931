import {
  failing,
  hostPaths,
  type HostFailureCode,
  type ProcessHostOptions,
} from '@wins/trusted-files';
import {
  RUN_MARKER_VARIABLE,
  type ProcessHost,
  type Leftover,
  type LeftoverSearch,
  type ProcessTree,
  foldAscii,
} from '@wins/base';
import { holdFile } from '../access/file-hold.js';
import {
  distrustOfFile,
  distrustOfFolder,
  windowsFileTrust,
} from '../access/windows-file-trust.js';
import { WindowsError } from '../windows-error.js';
import { openJob } from './job-object.js';
import { JobObjectProcess } from './job-object-process.js';
import {
  listProcesses,
  ancestry,
  parentOf,
  type ProcessEntry,
  isRunning,
  ownIdentity,
  endProcess,
  processOfText,
  type ProcessIdentity,
} from './windows-process.js';

const ONLY_OURS = "that only administrators and the daemon's account can change";

/**
 * Creates the process host of Windows: one job object per program, which ends with its run and with this process, for
 * any reason. Only a command with `mayBreakAway` can start processes outside its job.
 *
 * @throws WindowsError `unavailable` on other systems.
 */
export function jobObjectProcessHost(
  options: ProcessHostOptions = {},
): Required<Omit<ProcessHost, 'assertProgram'>> {
  const { failure = windowsFailure } = options;
  const own = ownIdentity();
  return {
    dialect: 'windows',
    daemon: `${own.pid}:${own.created}`,
    isDaemonAlive: (daemon) => {
      const found = processOfText(daemon);
      return found !== undefined && isRunning(found);
    },
    // By its spelling: the trust of this library resolves a path, and what the system reads as another one must be refused here.
    ...hostPaths({ ...windowsFileTrust(), distrustOfFile, distrustOfFolder }, failure, {
      file: `a file ${ONLY_OURS}`,
      directory: `a folder ${ONLY_OURS}`,
    }),
    holdFile: rejecting((path) =>
      failing(
        failure,
        path,
        () => 'stagingFailed',
        () => holdFile(path),
      ),
    ),
    limitMeans: (limits) => {
      failing(
        failure,
        undefined,
        () => 'limitsUnavailable',
        () => openJob({ limits }).close(),
      );
      return 'jobObject';
    },
    start: rejecting(({ mark, mayBreakAway = false, stop, limits, ...program }) => {
      // By the mark the helper of an upgrade knows that it has to leave its job.
      const env = { ...program.env, [RUN_MARKER_VARIABLE]: mark };
      return failing(failure, program.file, startCode, () =>
        JobObjectProcess.start({ ...program, env }, { mayBreakAway, stop, limits }),
      );
    }),
    findLeftovers: rejecting((search) => {
      const find = () => pickLeftovers(listProcesses(), search, own.pid);
      const found = failing(failure, undefined, () => 'unknown', find);
      return found.map((leftover) => ({ ...leftover, ...leftoverTree(leftover) }));
    }),
  };
}

/** `invalidArgument` when this library refused; what the system refuses is no fault of a request that others have judged. */
function startCode(error: unknown): HostFailureCode {
  const refused = error instanceof WindowsError && error.code === 'invalidArgument';
  return refused && error.functionName === undefined ? 'invalidArgument' : 'spawnFailed';
}

function windowsFailure(
  code: HostFailureCode,
  message: string,
  { cause }: ErrorOptions,
): WindowsError {
  if (cause instanceof WindowsError) return cause;
  const known = code === 'pathNotTrusted' ? 'accessDenied' : 'unknown';
  return new WindowsError(known, message, { cause });
}

/** Turns an exception of an act into a rejection. The act happens at once, without waiting for anything. */
function rejecting<A, T>(act: (argument: A) => T): (argument: A) => Promise<T> {
  return (argument) => new Promise((resolve) => resolve(act(argument)));
}

type FoundLeftover = ProcessIdentity & Omit<Leftover, keyof ProcessTree>;

/**
 * Selects the leftover processes of dead daemons. Pure. The jobs of a dead daemon are closed and their processes ended,
 * so only processes outside a job remain. A process that is in a job and whose parent still runs is claimed. Never
 * selects this process or its ancestors.
 */
export function pickLeftovers(
  processes: ReadonlyMap<number, ProcessEntry>,
  search: LeftoverSearch,
  ownPid: number,
): readonly FoundLeftover[] {
  const executables = new Set(search.executables.map(foldAscii));
  const remembered = new Map(
    search.remembered.map(({ pid, startToken, mark }) => [`${pid}:${startToken}`, mark]),
  );
  const ours = ancestry(processes, ownPid);
  return [...processes.values()].flatMap((entry): FoundLeftover[] => {
    const { pid, created, image } = entry;
    if (ours.has(pid)) return [];
    const identity = `${pid}:${created}`;
    const isSpared = identity === search.spared;
    const mark = remembered.get(identity);
    if (mark !== undefined) return [{ pid, created, evidence: 'record', mark, claimed: isSpared }];
    if (image === undefined || !executables.has(foldAscii(image))) return [];
    const claimed = isSpared || (entry.isInJob && parentOf(processes, entry) !== undefined);
    return [{ pid, created, evidence: 'executable', mark: undefined, claimed }];
  });
}

/** The process behind it, as something that can be ended; by number and time, each time anew, never by number alone. */
function leftoverTree(identity: ProcessIdentity): ProcessTree {
  return {
    isGone: () => Promise.resolve(tolerant(() => !isRunning(identity)) ?? false),
    terminate: () => {
      tolerant(() => endProcess(identity));
      return Promise.resolve();
    },
  };
}

// That it may not be ended shows in that it stays.
function tolerant<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
