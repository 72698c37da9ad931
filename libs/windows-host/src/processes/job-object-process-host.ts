import {
  failing,
  hostPaths,
  type HostFailureCode,
  type ProcessHostOptions,
} from '@wins/trusted-files';
import {
  RUN_MARKER_VARIABLE,
  foldAscii,
  type ProcessHost,
  type Leftover,
  type LeftoverSearch,
  type ProcessTree,
} from '@wins/base';
import { holdFile } from '../access/file-hold.js';
import { windowsFileTrust } from '../access/windows-file-trust.js';
import { inPromise } from '../win32/calls/call.js';
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
 * Creates the process host of Windows: one job object per program. A job ends when its run ends or this
 * process ends or crashes. Only a command with `mayBreakAway` can start processes outside its job.
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
    ...hostPaths(windowsFileTrust(), failure, {
      file: `a file ${ONLY_OURS}`,
      directory: `a folder ${ONLY_OURS}`,
    }),
    holdFile: (path) => {
      const hold = () => holdFile(path);
      return inPromise(() => failing(failure, path, () => 'stagingFailed', hold));
    },
    limitMeans: (limits) => {
      const attempt = () => openJob({ limits }).close();
      failing(failure, undefined, () => 'limitsUnavailable', attempt);
      return 'jobObject';
    },
    start: ({ mark, mayBreakAway = false, stop, limits, ...program }) => {
      // The mark tells the upgrade helper that it has to leave its job.
      const env = { ...program.env, [RUN_MARKER_VARIABLE]: mark };
      const start = () =>
        JobObjectProcess.start({ ...program, env }, { mayBreakAway, stop, limits });
      return inPromise(() => failing(failure, program.file, startCode, start));
    },
    findLeftovers: (search) => {
      const find = () => pickLeftovers(listProcesses(), search, own.pid);
      const tree = (found: FoundLeftover) => ({ ...found, ...leftoverTree(found) });
      return inPromise(() => failing(failure, undefined, () => 'unknown', find).map(tree));
    },
  };
}

/** Returns `invalidArgument` only if this library refused the request: a refusal by Windows is not the fault of the request. */
function startCode(error: unknown): HostFailureCode {
  const refused = error instanceof WindowsError && error.code === 'invalidArgument';
  return refused && error.functionName === undefined ? 'invalidArgument' : 'spawnFailed';
}

function windowsFailure(code: HostFailureCode, message: string, { cause }: ErrorOptions) {
  if (cause instanceof WindowsError) return cause;
  const known = code === 'pathNotTrusted' ? 'accessDenied' : 'unknown';
  return new WindowsError(known, message, { cause });
}
type FoundLeftover = ProcessIdentity & Omit<Leftover, keyof ProcessTree>;

/**
 * Selects possible leftovers of dead daemons, but never this process or its ancestors. A process found by its
 * executable is `claimed` if it is in a job and its parent runs. Such a process belongs to a living daemon, because the
 * jobs of dead daemons have ended.
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

/** Each call checks PID and creation time, because a PID may be reused. */
function leftoverTree(identity: ProcessIdentity): ProcessTree {
  return {
    isGone: () => Promise.resolve(tolerant(() => !isRunning(identity)) ?? false),
    terminate: () => {
      tolerant(() => endProcess(identity));
      return Promise.resolve();
    },
  };
}

/** Ignores failures, because callers check whether the process still runs. */
function tolerant<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
