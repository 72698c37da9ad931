import type { ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import {
  type DetachedRuns,
  type ManagedProcess,
  type OutputPart,
  type ProcessExit,
  type ProcessManager,
} from '@wins/process-manager';
import {
  processServiceDefinition,
  type ProcessKeepAliveRequest,
  type ProcessName,
  type ProcessServiceServer,
  type ProcessStartRequest,
  type ProcessStartResponse,
  type ProcessWaitResponse,
  type RunExit,
} from '@wins/wins-api/contract';
import type { Connections } from '../../kernel/rpc/connections.js';
import { goneSignal } from '../../kernel/rpc/administrators-only.js';
import { answering, respondWith, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { decodeExactly, decodeStart, startRequestOf } from './decode-start-request.js';
import { sendOutput } from './send-output.js';

const asItIs = (bytes: Buffer): Buffer => bytes;

/** Leaves start requests encoded, because gRPC would keep the reason of a refusal from the client. */
export const servedProcessDefinition = {
  ...processServiceDefinition,
  start: { ...processServiceDefinition.start, requestDeserialize: asItIs },
  startExactly: { ...processServiceDefinition.startExactly, requestDeserialize: asItIs },
};

function warningsAbout(limits: ManagedProcess['limits']): string[] {
  if (limits?.means !== 'rlimit') return [];
  return [
    'the memory limit applies to each process separately (rlimit): the daemon has no cgroup v2 with the memory controller',
  ];
}

export function createProcessService(
  runs: () => {
    readonly manager: Pick<ProcessManager, 'find' | 'start'>;
    readonly detached: DetachedRuns;
  },
  connections: Pick<Connections, 'clientOf' | 'ownerOf'>,
): Pick<ProcessServiceServer, 'updateFile' | 'wait' | 'keepAlive'> & UntypedServiceImplementation {
  const find = (name: ProcessName | undefined): ManagedProcess =>
    runs().manager.find({
      value: name?.value ?? '',
      ...(name !== undefined && name.runId !== '' && { runId: name.runId }),
    });

  const start = async (
    call: ServerUnaryCall<Buffer, ProcessStartResponse>,
    request: ProcessStartRequest,
  ): Promise<ProcessStartResponse> => {
    const { keep, outlivesDaemon } = request;
    const asked = startRequestOf(request);
    const owner = connections.ownerOf(call);
    const client = connections.clientOf(call);
    // The signal has no effect after the answer.
    const signal = goneSignal(call);
    const { manager, detached } = runs();
    if (keep !== undefined) {
      const by = { client, requester: owner.id, clientSays: owner.label };
      const value = await detached.start(asked, { ...keep, by, signal });
      // A run that is removed when it ends may be gone.
      const kept = detached.list(client).find((one) => detached.nameFor(one, client) === value);
      const warnings = warningsAbout(kept?.facts.run.limits);
      return { data: { value, runId: '' }, warnings, leaseMs: 0 };
    }
    const { run, leaseMs, warning } = outlivesDaemon
      ? await detached.startWithLease(asked, { owner, client }, { signal })
      : {
          run: await manager.start({ ...asked, owner }, { signal }),
          leaseMs: 0,
          warning: undefined,
        };
    const warnings = [...(warning === undefined ? [] : [warning]), ...warningsAbout(run.limits)];
    if (run.ports?.kind === 'notNeeded')
      warnings.push(`no port was opened, because ${run.ports.why}`);
    return { data: { value: run.name, runId: run.runId }, warnings, leaseMs };
  };

  return {
    start: answering<Buffer, ProcessStartResponse>(async (call) =>
      start(call, decodeStart(call.request)),
    ),
    startExactly: answering<Buffer, ProcessStartResponse>(async (call) =>
      start(call, decodeExactly(call.request)),
    ),

    updateFile: answering(async (call) => {
      const { data, file = { name: '', content: Buffer.alloc(0) } } = call.request;
      await find(data).updateFile(connections.ownerOf(call).id, file);
      return {};
    }),

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
          if (run.owner.absentClient?.key === connections.clientOf(call).key)
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
  };
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

/** On the wire, a run that a signal ended has no exit code. */
export function exitMessage({ code, signal, reason }: ProcessExit): RunExit {
  return { exitCode: signal === undefined ? code : undefined, signal, reason };
}
