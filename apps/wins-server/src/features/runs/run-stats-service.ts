import {
  ProcessError,
  type MeasuredRun,
  type ProcessManager,
  type ProcessOwner,
} from '@wins/process-manager';
import { quoteText, type TreeUsage } from '@wins/base';
import type { RunFigures, RunStatsServer, RunUsage } from '@wins/wins-api/contract';
import type { Caller, Connections } from '../../kernel/rpc/connections.js';
import { respondWith } from '../../kernel/rpc/rpc-errors.js';
import { limitsMessage } from './process-service.js';

/** Activity is private, so a client sees only its own runs; an administrator sees all. All unidentified clients count as one. */
export function createRunStatsService(
  manager: () => Pick<ProcessManager, 'find' | 'measure'>,
  connections: Pick<Connections, 'clientOf' | 'ownerOf'>,
): RunStatsServer {
  const isSeenBy = (caller: Caller): ((measured: MeasuredRun) => boolean) => {
    const { isAdministrator, isEverybody } = connections.clientOf(caller);
    if (isAdministrator) return () => true;
    if (isEverybody) return ({ run }) => isUnknown(run.owner);
    const { id, client } = connections.ownerOf(caller);
    return ({ run: { owner } }) => (owner.client?.key ?? owner.id) === (client?.key ?? id);
  };
  const answer = async (name: string, isSeen: ReturnType<typeof isSeenBy>) => {
    const named = name === '' ? undefined : manager().find({ value: name });
    const { takenAtMs, runs } = await manager().measure();
    const wanted = runs.filter(
      (measured) => isSeen(measured) && (named === undefined || measured.run === named),
    );
    if (named !== undefined && wanted.length === 0) {
      const message = `cannot measure ${quoteText(name)}: this client has no running program of that name`;
      throw new ProcessError('notFound', message);
    }
    const TakenAtUs = BigInt(Math.round(takenAtMs * 1000));
    return { TakenAtUs, Runs: wanted.map(figuresMessage) };
  };
  return {
    stats: (call, respond) => respondWith(respond, answer(call.request.Name, isSeenBy(call))),
  };
}

/** The description of an identified client contains at least its account. */
function isUnknown({ client }: ProcessOwner): boolean {
  return Object.keys(client?.description ?? {}).length === 0;
}

function figuresMessage({ run, figures: { usage, output } }: MeasuredRun): RunFigures {
  return {
    Name: run.name,
    Entry: run.entry,
    State: run.state.kind,
    StartedAtMs: BigInt(run.startedAtMs),
    ...(usage && { Usage: usageMessage(usage) }),
    StdOutBytes: BigInt(output.stdoutBytes),
    StdErrBytes: BigInt(output.stderrBytes),
    OutputPauses: BigInt(output.pauses),
    ...limitsMessage(run),
  };
}

function usageMessage({ cpuMs, memoryBytes, processes }: TreeUsage): RunUsage {
  return {
    CpuMs: BigInt(Math.round(cpuMs)),
    MemoryBytes: BigInt(memoryBytes),
    Processes: processes,
  };
}
