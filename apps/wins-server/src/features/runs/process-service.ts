import {
  detachedClientOf,
  type DetachedRuns,
  type ManagedProcess,
  type OutputPart,
  type ProcessExit,
  type ProcessManager,
} from '@wins/process-manager';
import {
  RunExposeProtocol,
  type ProcessExit as ExitMessage,
  type ProcessName,
  type RunEndReason,
  type RunState,
} from '@wins/wins-api';
import {
  processServiceDefinition,
  type ProcessKeepAliveRequest,
  type ProcessServiceServer,
  type ProcessStartRequest,
  type ProcessSummary,
  type ProcessWaitResponse,
  type RunLimits,
} from '@wins/wins-api/contract';
import type { Caller, Connections } from '../../kernel/rpc/connections.js';
import { goneSignal } from '../../kernel/rpc/administrators-only.js';
import { respondWith, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { decodeExactly, decodeStartRequest, startRequestOf } from './decode-start-request.js';
import { sendOutput } from './send-output.js';

/** Decodes the lists of a start request only up to their limits. */
export const servedProcessDefinition: typeof processServiceDefinition = {
  ...processServiceDefinition,
  start: { ...processServiceDefinition.start, requestDeserialize: decodeStartRequest },
  startExactly: { ...processServiceDefinition.startExactly, requestDeserialize: decodeExactly },
};

/** Only this method of the service is on the administrators' pipe. */
export const stopDefinition: Pick<typeof processServiceDefinition, 'stop'> = {
  stop: servedProcessDefinition.stop,
};

export function warningsAbout(limits: ManagedProcess['limits']): readonly string[] {
  if (limits?.means !== 'rlimit') return [];
  return [
    'the memory limit applies to each process separately (rlimit): the daemon has no cgroup v2 with the memory controller',
  ];
}

/** The detached runs, for clients that may know of some only. */
export type DetachedOfClients = Pick<
  DetachedRuns,
  'startWithLease' | 'stop' | 'stopProcess' | 'aboutProcess' | 'processNamed'
>;

export function createProcessService(
  runs: () => {
    readonly manager: Pick<ProcessManager, 'find' | 'list' | 'start'>;
    readonly detached?: DetachedOfClients | undefined;
  },
  connections: Pick<Connections, 'clientOf' | 'ownerOf'>,
): ProcessServiceServer {
  const find = (name: ProcessName | undefined): ManagedProcess =>
    runs().manager.find({
      value: name?.value ?? '',
      ...(name !== undefined && name.runId !== '' && { runId: name.runId }),
    });

  const begin = async (request: ProcessStartRequest, caller: Caller, signal: AbortSignal) => {
    const asked = startRequestOf(request);
    const owner = connections.ownerOf(caller);
    const { manager, detached } = runs();
    if (request.outlivesDaemon && detached !== undefined)
      return detached.startWithLease(
        asked,
        { owner, client: connections.clientOf(caller) },
        { signal },
      );
    const run = await manager.start({ ...asked, owner }, { signal });
    return { run, leaseMs: 0, warning: undefined };
  };

  const start: ProcessServiceServer['start'] = (call, respond) => {
    // The signal has no effect after the answer.
    const started = begin(call.request, call, goneSignal(call)).then(
      ({ run, leaseMs, warning }) => {
        const { ports, limits } = run;
        const warnings = [...(warning === undefined ? [] : [warning]), ...warningsAbout(limits)];
        if (ports?.kind === 'notNeeded') warnings.push(`no port was opened, because ${ports.why}`);
        return { data: nameOf(run), warnings, leaseMs };
      },
    );
    respondWith(respond, started);
  };

  /** A name means the caller's detached run first, then any client's living run of a program, then the caller's detached run by its process. */
  const stopDetached = async (
    name: ProcessName | undefined,
    caller: Caller,
    force: boolean,
  ): Promise<ProcessExit | undefined> => {
    const { manager, detached } = runs();
    const { value = '', runId = '' } = name ?? {};
    if (detached === undefined || runId !== '') return undefined;
    const requester = connections.ownerOf(caller).id;
    const by = { client: connections.clientOf(caller), requester };
    const named = await detached.stop(value, by, { force });
    if (named !== undefined) return named;
    const lives = manager
      .list()
      .some(
        (run) => run.lifetime !== 'detached' && run.state.kind !== 'ended' && run.name === value,
      );
    return lives ? undefined : detached.stopProcess(value, by, { force });
  };

  return {
    start,
    startExactly: start,

    updateFile: (call, respond) => {
      const update = async () => {
        const { data, file = { name: '', content: Buffer.alloc(0) } } = call.request;
        await find(data).updateFile(connections.ownerOf(call).id, file);
        return {};
      };
      respondWith(respond, update());
    },

    wait: (call) => {
      const send = async (): Promise<void> => {
        const { data } = call.request;
        const run = find(data);
        const gone = goneSignal(call);
        const selected = { runId: data?.runId ?? '', signal: gone };
        const reader = run.read(connections.ownerOf(call).id, selected);
        if (!(await sendOutput(call, gone, reader, outputMessage))) return;
        const exit = await run.ended;
        call.write({ options: { $case: 'exit', value: exitMessage(exit) } });
        call.end();
      };
      send().catch((error: unknown) => call.emit('error', toRpcError(error)));
    },

    keepAlive: (call, respond) => {
      // The first message names the run, and later messages are heartbeats. The client ends the call to release the lease.
      let lease: ReturnType<ManagedProcess['holdLease']> | undefined;
      let failed = false;
      call.on('data', ({ data }: ProcessKeepAliveRequest) => {
        if (lease !== undefined || failed) return;
        try {
          const run = find(data);
          const owner = connections.ownerOf(call);
          // Moves the run to this connection, because the client's earlier connection was to the previous daemon.
          if (detachedClientOf(run.owner)?.key === connections.clientOf(call).key)
            run.giveTo(owner, data?.runId ?? '');
          lease = run.holdLease(owner.id);
        } catch (error) {
          failed = true;
          respond(toRpcError(error));
        }
      });
      call.once('end', () => {
        if (failed) return;
        const found = 'the end of the call; wanted the name of a run first';
        const released =
          lease?.release() ?? Promise.reject(new Error(`cannot hold a lease: found ${found}`));
        respondWith(
          respond,
          released.then(() => ({})),
        );
      });
      for (const event of ['cancelled', 'error'])
        call.once(event, () => void lease?.release().catch(() => undefined));
    },

    list: (call, respond) => {
      const { id } = connections.ownerOf(call);
      const { manager, detached } = runs();
      const client = connections.clientOf(call);
      const data = manager.list().flatMap((process) => {
        const about = detached === undefined ? {} : detached.aboutProcess(process, client);
        if (process.state.kind === 'ended' || about === undefined) return [];
        return [summaryOf(process, id, about.detachedName)];
      });
      respond(null, { data });
    },

    stop: (call, respond) => {
      const stop = async () => {
        const { data, force } = call.request;
        const detached = await stopDetached(data, call, force);
        if (detached !== undefined) return { data: exitMessage(detached) };
        const process = find(data);
        // Every client may stop any run without force, and administrators may stop it with force. In both cases, `mayStop` is true.
        // With force, any other client must own the run or send the run's id; `process.stop` checks that.
        const mayStop = !force || connections.clientOf(call).isAdministrator;
        const runId = mayStop ? process.runId : (data?.runId ?? '');
        const exit = await process.stop(connections.ownerOf(call).id, { runId, force });
        return { data: exitMessage(exit) };
      };
      respondWith(respond, stop());
    },
  };
}

export function limitsMessage({ limits }: Partial<Pick<ManagedProcess, 'limits'>>): {
  limits?: RunLimits;
} {
  if (limits === undefined) return {};
  const { memoryBytes = 0, cpus = 0, pids = 0, means } = limits;
  const cpuMillis = Math.round(cpus * 1000);
  return { limits: { memoryBytes, cpuMillis, pids, means } };
}

function outputMessage({ stream, bytes }: OutputPart): ProcessWaitResponse {
  switch (stream) {
    case 'stdout':
      return { options: { $case: 'stdOut', value: bytes } };
    case 'stderr':
      return { options: { $case: 'stdErr', value: bytes } };
    case 'skipped':
      return { options: { $case: 'skipped', value: { bytes } } };
  }
}

function exitMessage({ code, signal, reason }: ProcessExit): ExitMessage {
  return { code, signal: signal ?? '', reason: reason satisfies RunEndReason };
}

function nameOf(process: ManagedProcess): ProcessName {
  return { value: process.name, runId: process.runId };
}

/** Only the owner gets the `RunID`, because anyone with it may follow the run. */
function summaryOf(process: ManagedProcess, askedBy: string, detachedName = ''): ProcessSummary {
  const isOwner = process.owner.id === askedBy;
  return {
    name: isOwner ? nameOf(process) : { value: process.name, runId: '' },
    path: process.path,
    state: process.state.kind satisfies RunState,
    pid: process.pid,
    startedAtMs: process.startedAtMs,
    ...limitsMessage(process),
    exposes: process.exposes.map(({ port, protocol }) => ({
      port,
      protocol: protocol === 'udp' ? RunExposeProtocol.UDP : RunExposeProtocol.TCP,
    })),
    digestSha256: process.sha256,
    outlivesDaemon: process.lifetime !== 'connection',
    detachedName,
  };
}
