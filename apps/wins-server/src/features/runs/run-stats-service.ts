import {
  ProcessError,
  type MeasuredRun,
  type ProcessManager,
  type ProcessOwner,
} from '@wins/process-manager';
import { quoteText, type ClientIdentity, type TreeUsage } from '@wins/base';
import type { RunFigures, RunStatsServer, RunUsage } from '@wins/wins-api/contract';
import type { Caller, Connections } from '../../kernel/rpc/connections.js';
import { respondWith } from '../../kernel/rpc/rpc-errors.js';
import { limitsMessage, type DetachedOfClients } from './process-service.js';

/** Activity is private, so a client sees only its own runs; an administrator sees all. All unidentified clients count as one. */
export function createRunStatsService(
  runs: () => {
    readonly manager: Pick<ProcessManager, 'find' | 'measure'>;
    readonly detached?: Pick<DetachedOfClients, 'aboutProcess' | 'processNamed'> | undefined;
  },
  connections: Pick<Connections, 'clientOf' | 'ownerOf'>,
): RunStatsServer {
  const isSeenBy = (caller: Caller): ((measured: MeasuredRun) => boolean) => {
    const asker = connections.clientOf(caller);
    const { detached } = runs();
    if (asker.isAdministrator) return () => true;
    if (asker.isEverybody) return ({ run }) => isUnknown(run.owner);
    const { id, client } = connections.ownerOf(caller);
    return ({ run }) => {
      const { owner } = run;
      if ((owner.client?.key ?? owner.id) !== (client?.key ?? id)) return false;
      // A key may be that of an earlier session's client, whose detached runs this client does not see.
      return detached === undefined || detached.aboutProcess(run, asker) !== undefined;
    };
  };
  const answer = async (
    name: string,
    client: ClientIdentity,
    isSeen: ReturnType<typeof isSeenBy>,
  ) => {
    const { manager, detached } = runs();
    const { takenAtMs, runs: all } = await manager.measure();
    const measured = all.filter(isSeen);
    const wanted = name === '' ? measured : runsNamed(measured, name, client, runs());
    if (name !== '' && wanted.length === 0) {
      const message = `cannot measure ${quoteText(name)}: this client has no running program of that name`;
      throw new ProcessError('notFound', message);
    }
    const takenAtUs = Math.round(takenAtMs * 1000);
    const message = (run: MeasuredRun): RunFigures =>
      figuresMessage(run, detached?.aboutProcess(run.run, client)?.detachedName);
    return { takenAtUs, runs: wanted.map(message) };
  };
  return {
    stats: (call, respond) =>
      respondWith(respond, answer(call.request.name, connections.clientOf(call), isSeenBy(call))),
  };
}

/** A detached run has its own name; several may have one process name. Other runs have the name of their process alone. */
function runsNamed(
  measured: readonly MeasuredRun[],
  name: string,
  client: ClientIdentity,
  { manager, detached }: ReturnType<Parameters<typeof createRunStatsService>[0]>,
): readonly MeasuredRun[] {
  const process = detached?.processNamed(name, client);
  if (process !== undefined) return measured.filter(({ run }) => run === process);
  const ofDetached = measured.filter(({ run }) => run.lifetime === 'detached' && run.name === name);
  if (ofDetached.length > 0) return ofDetached;
  const named = manager.find({ value: name });
  return measured.filter(({ run }) => run === named);
}

/** The description of an identified client contains at least its account. */
function isUnknown({ client }: ProcessOwner): boolean {
  return Object.keys(client?.description ?? {}).length === 0;
}

function figuresMessage(
  { run, figures: { usage, output } }: MeasuredRun,
  detachedName = '',
): RunFigures {
  return {
    name: run.name,
    entry: run.entry,
    state: run.state.kind,
    startedAtMs: run.startedAtMs,
    ...(usage && { usage: usageMessage(usage) }),
    stdOutBytes: output.stdoutBytes,
    stdErrBytes: output.stderrBytes,
    outputPauses: output.pauses,
    ...limitsMessage(run),
    detachedName,
  };
}

function usageMessage({ cpuMs, memoryBytes, processes }: TreeUsage): RunUsage {
  return {
    cpuMs: Math.round(cpuMs),
    memoryBytes,
    processes,
  };
}
