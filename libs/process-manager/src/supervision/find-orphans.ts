import { errnoOf, type ProcessHost } from '@wins/wins-program';
import type { AllowedExecutable } from '../policy/executable-policy.js';
import { stagedPathsOf } from '../policy/executable-policy.js';
import type { RecoveredProcess } from './manager-event.js';
import { describeLeftover } from './end-leftovers.js';
import { ProcessError } from '../process-error.js';
import { RunRecords, type RunRecord } from './run-records.js';

/** Whose orphans to look for. */
export interface OrphanSearch {
  /** What daemons may run: a process of a verified copy of it belongs to a run. */
  readonly allowed: readonly AllowedExecutable[];
  /** The state directory of the daemons; it need not exist. */
  readonly stateDirectory: string;
  readonly host: ProcessHost;
}

/**
 * Finds what `ProcessManager.recover` would end, and changes nothing: processes of runs whose daemon is dead. Those of a daemon
 * that lives are not among them.
 *
 * @throws ProcessError `stateUnavailable` when the records cannot be read, `unknown` when it cannot look.
 */
export async function findOrphans(search: OrphanSearch): Promise<readonly RecoveredProcess[]> {
  const { allowed, stateDirectory, host } = search;
  const records = new RunRecords(stateDirectory);
  const remembered = recordsIn(records).filter(({ daemon }) => !host.isDaemonAlive(daemon));
  const found = await host.findLeftovers({
    executables: stagedPathsOf(allowed, host.dialect),
    remembered,
    lineage: records.lineage,
  });
  return found
    .filter(({ claimed }) => !claimed)
    .map((leftover) =>
      describeLeftover(
        leftover,
        remembered.find(({ mark }) => mark === leftover.mark),
      ),
    );
}

// Before the first daemon there is no directory.
function recordsIn(records: RunRecords): readonly RunRecord[] {
  try {
    return records.read().records;
  } catch (error) {
    if (error instanceof ProcessError && errnoOf(error.cause) === 'ENOENT') return [];
    throw error;
  }
}
