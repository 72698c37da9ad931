import {
  quoteText,
  reasonOf,
  type HostCommand,
  type LimitMeans,
  type TreeLimits,
} from '@wins/base';
import type { HostFailureCode, MakeHostFailure } from '@wins/trusted-files';
import { accessSync, constants } from 'node:fs';
import type { RunCgroup, RunCgroups } from './run-cgroups.js';

/**
 * Shell that applies the limits to itself and then executes the program, so that the program never runs without limits.
 * Node itself can neither start a process in a cgroup (clone3) nor set its limits. The script is constant; all values
 * are arguments.
 */
const STARTER = '/bin/sh';
const INTO_CGROUP = 'echo 0 > "$0" && exec "$@"; exit 125';
const WITHOUT_CGROUP = 'ulimit -d "$0" && exec "$@"; exit 125';
/** A shell passes on only variables with such names. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface LimitedCommand {
  readonly command: Pick<HostCommand, 'file' | 'argv0' | 'args'>;
  readonly cgroup?: RunCgroup;
}

/** Uses cgroups to limit runs. Without cgroups, it limits only memory: the data size of each process (`ulimit -d`). */
export class LinuxLimits {
  readonly #cgroups: RunCgroups;
  readonly #failure: MakeHostFailure;

  constructor(cgroups: RunCgroups, failure: MakeHostFailure) {
    this.#cgroups = cgroups;
    this.#failure = failure;
  }

  means(limits: TreeLimits): LimitMeans {
    const why = this.#cgroups.whyNot(limits);
    if (why === undefined) return 'cgroup';
    const isMemoryAlone = limits.cpus === undefined && limits.pids === undefined;
    if (isMemoryAlone && process.platform === 'linux') return 'rlimit';
    const message = `cannot limit ${isMemoryAlone ? 'memory' : 'processors or processes'} of a run: ${why}`;
    throw this.#failure('limitsUnavailable', message, {});
  }

  /** Returns undefined when the command has no limits. */
  limit(command: HostCommand): LimitedCommand | undefined {
    const { file, argv0, args, env, mark, limits } = command;
    if (limits === undefined) return undefined;
    const strange = Object.keys(env).find((name) => !VARIABLE.test(name));
    if (strange !== undefined) {
      const message = `cannot set the variable ${quoteText(strange)} for a run with limits: its name may have only letters, digits and _`;
      throw this.#failure('invalidArgument', message, {});
    }
    if (argv0 !== file) {
      const message = `cannot limit ${quoteText(argv0)}: its entry has "argv0: listed", which excludes limits`;
      throw this.#failure('limitsUnavailable', message, { path: argv0 });
    }
    const means = this.means(limits);
    // Check the program here, because an error of the shell would reach only the client, as output of the run.
    this.#try('spawnFailed', file, () => accessSync(file, constants.X_OK));
    if (means === 'rlimit') {
      const kibibytes = String(Math.floor((limits.memoryBytes ?? 0) / 1024));
      return { command: started([WITHOUT_CGROUP, kibibytes, file, ...args]) };
    }
    const cgroup = this.#try('limitsUnavailable', file, () => this.#cgroups.create(mark, limits));
    return { command: started([INTO_CGROUP, cgroup.procsFile, file, ...args]), cgroup };
  }

  #try<T>(code: HostFailureCode, file: string, action: () => T): T {
    try {
      return action();
    } catch (cause) {
      const message = `cannot start ${quoteText(file)} with limits: ${reasonOf(cause)}`;
      throw this.#failure(code, message, { cause, path: file });
    }
  }
}

function started(args: readonly string[]): LimitedCommand['command'] {
  return { file: STARTER, argv0: STARTER, args: ['-c', ...args] };
}
