import type { ServerUnaryCall } from '@grpc/grpc-js';
import { quoteText } from '@wins/base';
import {
  isBegun,
  lastEndOf,
  ProcessError,
  type DetachedRun,
  type DetachedRuns,
  type ManagedProcess,
  type OutputReadOptions,
  type ProcessExit,
  type ProcessManager,
  type ProcessOwner,
  type Requester,
} from '@wins/process-manager';
import {
  RunOutput,
  type Run,
  type RunNameRequest,
  type RunReadRequest,
  type RunsServer,
  type RunStopRequest,
} from '@wins/wins-api/contract';
import { searchInTurn } from '../../kernel/admission/search-turns.js';
import { FeatureError } from '../../kernel/feature-error.js';
import type { Kernel } from '../../kernel/feature.js';
import { goneSignal, type Callers } from '../../kernel/rpc/administrators-only.js';
import type { Caller } from '../../kernel/rpc/connections.js';
import { answering, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { exitMessage } from '../runs/process-service.js';
import { sendOutput } from '../runs/send-output.js';
import {
  detailsOf,
  detailsOfProcess,
  endMessage,
  figuresMessage,
  keptMessage,
  partMessage,
  processMessage,
} from './run-messages.js';

export interface RunsOfDaemon {
  readonly manager: Pick<ProcessManager, 'find' | 'list' | 'measure'>;
  readonly detached: DetachedRuns;
}

/** Client that makes a call. */
interface Asker extends Requester {
  /** Its connection. */
  readonly owner: ProcessOwner;
}

/** A run as the list has it: a living process, a detached run, or both. */
interface ListedRun {
  readonly process: ManagedProcess | undefined;
  readonly kept: DetachedRun | undefined;
}

/** A client sees the living runs of all clients, without the detached ones of others; an administrator of the host sees all. */
export function createRunsService(
  runs: () => RunsOfDaemon,
  callers: Callers,
  {
    audit,
    resources: { searches },
    pipe: { scheduler },
  }: Pick<Kernel, 'audit' | 'resources' | 'pipe'>,
): RunsServer {
  const askerOf = (call: Caller): Asker => {
    const owner = callers.ownerOf(call);
    return { client: callers.clientOf(call), requester: owner.id, owner };
  };

  /** Records that the access is refused, or allowed. */
  const find = (
    label: string,
    { client, requester }: Asker,
    action: 'wait' | 'start' | 'stop',
  ): DetachedRun => {
    const asked = { action, requester, client: client.description };
    try {
      const kept = runs().detached.find(label, client);
      const { mark, path, name } = kept.facts.run;
      const runName = kept.label;
      // Starts and stops are recorded where they happen.
      if (action === 'wait')
        void audit.decided({ ...asked, mark, path, name, runName, verdict: 'allowed' }, client.key);
      return kept;
    } catch (error) {
      if (error instanceof ProcessError)
        void audit.decided(
          { ...asked, mark: '', path: '', verdict: 'refused', code: error.code },
          client.key,
        );
      throw error;
    }
  };

  const control =
    (verb: 'startAgain' | 'restart') => async (call: ServerUnaryCall<RunNameRequest, Run>) => {
      const { name } = call.request;
      const asker = askerOf(call);
      find(name, asker, 'start');
      const kept = await runs().detached[verb](name, asker, { signal: goneSignal(call) });
      return messageOf(listed(kept), asker);
    };

  const seenBy = ({ client }: Asker): readonly ListedRun[] => {
    const { manager, detached } = runs();
    const kept = detached.list(client);
    const marks = new Set(kept.map(({ facts }) => facts.run.mark));
    const others = manager.list().filter(
      (process) =>
        isAlive(process) &&
        // An attempt that is still starting is no detached run yet.
        (process.lifetime !== 'detached' || (client.isAdministrator && !marks.has(process.mark))),
    );
    return [...others.map((process) => ({ process, kept: undefined })), ...kept.map(listed)];
  };

  /** Returns the living runs with this name that the client may measure. */
  const ownNamed = (name: string, asker: Asker): readonly ListedRun[] => {
    const own = seenBy(asker).filter(({ process }) => process && mayMeasure(process, asker));
    const named = runs().detached.processNamed(name, asker.client);
    return own.filter(({ process }) =>
      named === undefined ? process?.name === name : process === named,
    );
  };

  const messageOf = (
    { process, kept }: ListedRun,
    { client, owner }: Asker,
    more: Pick<Run, 'figures' | 'details'> = {},
  ): Run => {
    if (kept !== undefined)
      return { ...keptMessage(kept, process, runs().detached.nameFor(kept, client)), ...more };
    if (process === undefined) throw new Error('a run has neither a process nor a record');
    // Only the owner gets the id, because anyone with it may follow the run.
    const runId = process.owner.id === owner.id ? process.runId : undefined;
    return { ...processMessage(process), runId, ...more };
  };

  return {
    list: answering(async (call) => {
      const { all, measured, name } = call.request;
      const asker = askerOf(call);
      const { takenAtMs = 0, runs: measurements = [] } = measured
        ? await runs().manager.measure()
        : {};
      const figures = new Map(measurements.map((one) => [one.run, figuresMessage(one.figures)]));
      const found =
        name === ''
          ? seenBy(asker).filter(({ process }) => all || process !== undefined)
          : ownNamed(name, asker);
      if (name !== '' && found.length === 0)
        throw new ProcessError(
          'notFound',
          `cannot measure ${quoteText(name)}: this client has no running program of that name`,
        );
      const messages = found.map((one) => {
        const isMeasured = one.process !== undefined && mayMeasure(one.process, asker);
        return messageOf(one, asker, {
          figures: isMeasured ? figures.get(one.process) : undefined,
        });
      });
      // Runs that have not started yet come last.
      const orderOf = ({ startedAtMs }: Run) => startedAtMs || Number.MAX_SAFE_INTEGER;
      messages.sort((one, other) => orderOf(one) - orderOf(other));
      return { takenAtUs: Math.round(takenAtMs * 1000), runs: messages };
    }),

    inspect: answering(async (call) => {
      const { name } = call.request;
      const asker = askerOf(call);
      const { detached } = runs();
      let found: ListedRun | undefined;
      try {
        found = listed(detached.find(name, asker.client));
      } catch (error) {
        if (!(error instanceof ProcessError) || error.code !== 'notFound') throw error;
        [found] = ownNamed(name, asker);
        if (found === undefined) throw error;
      }
      const { process, kept } = found;
      const details =
        kept === undefined ? await detailsOfProcess(process) : await detailsOf(kept, detached);
      return messageOf(found, asker, { details });
    }),

    read: (call) => {
      const send = async () => {
        const asker = askerOf(call);
        const kept = find(call.request.name, asker, 'wait');
        const gone = goneSignal(call);
        const wanted = { ...wantedOf(call.request), signal: gone };
        const { detached } = runs();
        using reader = detached.read(kept, wanted, searchInTurn(asker.client, searches, scheduler));
        if (wanted.lines !== undefined || wanted.sinceMs !== undefined)
          call.write({
            offset: await reader.begin(),
            writtenAtMs: 0,
            options: undefined,
          });
        if (!(await sendOutput(call, gone, reader, partMessage))) return;
        if (detached.isClosed)
          throw new FeatureError('shuttingDown', 'cannot follow a run: the daemon is stopping');
        const end = lastEndOf(kept);
        if (end !== undefined && !isBegun(kept)) throw neverStarted(kept);
        if (end !== undefined)
          call.write({
            offset: end.outputBytes,
            writtenAtMs: end.endedAtMs,
            options: { $case: 'end', value: endMessage(end) },
          });
        call.end();
      };
      send().catch((error: unknown) => call.emit('error', toRpcError(error)));
    },

    stop: answering(async (call) => {
      const { name, runId = '', force } = call.request;
      const asker = askerOf(call);
      const { manager } = runs();
      const ended = runId === '' ? await stopDetached(runs(), call.request, asker) : undefined;
      if (ended !== undefined) return exitMessage(ended);
      const process = manager.find({ value: name, ...(runId !== '' && { runId }) });
      // Every client may stop any run without force, and administrators may stop it with force. In both cases, `mayStop` is true.
      // With force, any other client must own the run or send the run's id; `process.stop` checks that.
      const mayStop = !force || asker.client.isAdministrator;
      const selected = { runId: mayStop ? process.runId : runId, force };
      return exitMessage(await process.stop(asker.requester, selected));
    }),

    startAgain: answering(control('startAgain')),
    restart: answering(control('restart')),

    remove: answering(async (call) => {
      const { name } = call.request;
      const asker = askerOf(call);
      find(name, asker, 'stop');
      const end = await runs().detached.remove(name, asker);
      return { end: end && endMessage(end) };
    }),
  };
}

/** A name means the caller's detached run first, then any client's living run of a program, then the caller's detached run by its process. */
async function stopDetached(
  { manager, detached }: RunsOfDaemon,
  { name, force }: RunStopRequest,
  by: Requester,
): Promise<ProcessExit | undefined> {
  const named = await detached.stop(name, by, { force });
  if (named !== undefined) return named;
  const lives = manager
    .list()
    .some((run) => run.lifetime !== 'detached' && isAlive(run) && run.name === name);
  return lives ? undefined : detached.stopProcess(name, by, { force });
}

function isAlive({ state }: ManagedProcess): boolean {
  return state.kind !== 'ended';
}

function listed(kept: DetachedRun): ListedRun {
  const { process, end } = kept;
  const lives = end === undefined && process !== undefined && isAlive(process);
  return { kept, process: lives ? process : undefined };
}

/** Activity is private, so a client gets the figures of its own runs; an administrator those of all. All unidentified clients count as one. */
function mayMeasure({ owner }: ManagedProcess, asker: Asker): boolean {
  if (asker.client.isAdministrator) return true;
  // The description of an identified client contains at least its account.
  if (asker.client.isEverybody) return Object.keys(owner.client?.description ?? {}).length === 0;
  return (owner.client?.key ?? owner.id) === (asker.owner.client?.key ?? asker.owner.id);
}

function wantedOf({ offset, sinceMs, tailLines, only, follow }: RunReadRequest): OutputReadOptions {
  return {
    offset,
    lines: tailLines,
    sinceMs: sinceMs > 0 ? sinceMs : undefined,
    only: only === RunOutput.STDOUT ? 'stdout' : only === RunOutput.STDERR ? 'stderr' : undefined,
    follow,
  };
}

function neverStarted({ label, refused }: DetachedRun): ProcessError {
  const why = refused?.message ?? 'the config does not keep it any more';
  const message = `cannot follow ${quoteText(label)}: it was never started: ${why}`;
  return new ProcessError(refused?.code ?? 'notFound', message);
}
