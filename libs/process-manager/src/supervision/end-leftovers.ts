import { quoteText, type Leftover, type ProcessHost, type RememberedProcess } from '@wins/base';
import { endProcessTree } from './end-process-tree.js';
import type { CompleteOptions } from '../manager-options.js';
import type { RecoveredProcess } from './managed-process.js';
import { ProcessError } from '../process-error.js';
import { RunFolders } from './run-folders.js';
import { lineageOf } from './run-mark.js';
import type { RunRecord } from './run-record.js';
import { type AllowedExecutable, stagedPathsOf } from '../policy/executable-policy.js';

// A leftover may start more processes before it ends, so each round looks again.
const MAX_ROUNDS = 5;

type LeftoverEnding = Pick<CompleteOptions, 'host' | 'graceMs' | 'onEvent' | 'stateDirectory'>;

/**
 * Ends processes that dead daemons left running. Identifies each process by the mark in its environment, by its record
 * on disk, or by the verified copy that it executes. Removes the records of processes that have ended.
 *
 * @throws ProcessError `stateUnavailable`, `unknown`.
 */
export async function endLeftovers(
  ending: LeftoverEnding,
  folders: RunFolders,
  stagedPaths: readonly string[],
): Promise<readonly RecoveredProcess[]> {
  const { host, onEvent, stateDirectory } = ending;
  const { records, ignored } = await folders.readAll();
  for (const { file, why } of ignored) onEvent({ type: 'recordIgnored', file, why });
  const dead = records.filter(({ supervisor }) => !host.isDaemonAlive(supervisor));
  const lineage = lineageOf(stateDirectory);
  const search = { executables: stagedPaths, remembered: dead.map(remember), lineage };

  const recovered: RecoveredProcess[] = [];
  const stuck = new Set<string | undefined>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = (await host.findLeftovers(search)).filter(({ claimed }) => !claimed);
    if (found.length === 0) break;
    stuck.clear();
    for (const { leftover, gone } of await endAll(found, ending.graceMs)) {
      const facts = describeLeftover(leftover, dead);
      onEvent({ type: gone ? 'leftoverEnded' : 'leftoverNotGone', ...facts });
      if (gone) recovered.push(facts);
      else stuck.add(leftover.mark);
    }
    if (stuck.size > 0) break;
  }
  // The folder of a detached run has more than its record: its end is not yet reported.
  for (const { label, run } of dead)
    if (label === undefined && !stuck.has(run.mark)) folders.forget(run.mark);
  return recovered;
}

/** @throws ProcessError `alreadyRunning` when a process belongs to a living daemon or does not end. */
export async function endStaleCopies(
  { host, graceMs, onEvent }: LeftoverEnding,
  stagedPath: string,
): Promise<void> {
  const search = { executables: [stagedPath], remembered: [] };
  const found = await host.findLeftovers(search);
  const claimed = found.find((leftover) => leftover.claimed);
  if (claimed !== undefined)
    throw stillRunning(stagedPath, claimed, 'belongs to another daemon, or is upgrading this one');
  for (const { leftover, gone } of await endAll(found, graceMs)) {
    const type = gone ? 'leftoverEnded' : 'leftoverNotGone';
    onEvent({ type, ...describeLeftover(leftover, []) });
    if (!gone)
      throw stillRunning(stagedPath, leftover, 'belongs to an earlier daemon and does not end');
  }
}

function endAll(found: readonly Leftover[], graceMs: number) {
  return Promise.all(
    found.map(async (leftover) => ({ leftover, gone: await endProcessTree(leftover, graceMs) })),
  );
}

function remember({ pid, startToken, run: { mark } }: RunRecord): RememberedProcess {
  return { mark, pid, startToken };
}

function describeLeftover(
  { pid, evidence, mark }: Leftover,
  records: readonly RunRecord[],
): RecoveredProcess {
  const { run } = records.find((record) => record.run.mark === mark) ?? {};
  return { pid, evidence, mark, name: run?.name, path: run?.path };
}

function stillRunning(path: string, { pid }: Leftover, how: string): ProcessError {
  const message = `cannot start ${quoteText(path)}: process ${pid} runs it and ${how}`;
  return new ProcessError('alreadyRunning', message, { path });
}

/** Says where {@link findOrphans} searches for processes of dead daemons, and which programs belong to daemons. */
export interface OrphanSearch {
  /** Programs that daemons may run. A process that executes a verified copy of such a program belongs to a run. */
  readonly allowed: readonly AllowedExecutable[];
  /** The state directory of the daemons; it need not exist. */
  readonly stateDirectory: string;
  readonly host: ProcessHost;
}

/**
 * Returns the processes that `ProcessManager.recover` would end. Changes nothing.
 *
 * @throws ProcessError `stateUnavailable` when the records cannot be read, `unknown` when the search fails.
 */
export async function findOrphans(search: OrphanSearch): Promise<readonly RecoveredProcess[]> {
  const { allowed, stateDirectory, host } = search;
  const { records } = await new RunFolders(stateDirectory).read();
  const dead = records.filter(({ supervisor }) => !host.isDaemonAlive(supervisor));
  const found = await host.findLeftovers({
    executables: stagedPathsOf(allowed, host.dialect),
    remembered: dead.map(remember),
    lineage: lineageOf(stateDirectory),
  });
  return found
    .filter(({ claimed }) => !claimed)
    .map((leftover) => describeLeftover(leftover, dead));
}
