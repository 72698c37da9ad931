import { status, type ServerWritableStream } from '@grpc/grpc-js';
import { quoteText } from '@wins/base';
import type { DebugPiece, DebugRecordRequest, DebugServiceServer } from '@wins/wins-api/contract';
import { once } from 'node:events';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import { FeatureError, isFeatureError } from '../../kernel/feature-error.js';
import {
  goneSignal,
  recordAction,
  refusalOf,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import type { Diagnostics } from './diagnostics.js';
import type { RecordOptions } from './recording.js';

export interface DebugSources {
  /** @throws FeatureError while the config turns diagnostics off, which may change at any time. */
  readonly requireOn: () => void;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** Verb phrase for "cannot …" in refusals. */
export const WHAT = 'diagnose the daemon';

type Call = ServerWritableStream<DebugRecordRequest, DebugPiece>;

const RECORDINGS: Readonly<
  Record<
    string,
    (parts: Diagnostics, options: RecordOptions) => AsyncIterable<Buffer> | Iterable<Buffer>
  >
> = {
  stacks: async function* (parts, options) {
    yield Buffer.from(await parts.stacks(options));
  },
  report: (parts) => [Buffer.from(parts.report())],
  heap: (parts) => parts.heap(),
  cpu: (parts, options) => parts.cpu(options),
  trace: (parts, options) => parts.trace(options),
};

/** Checks each client even on the administrators' pipe, because a process may hand its connection to a container or to another user. */
export function createDebugService(
  callers: Pick<Callers, 'clientOf'>,
  { requireOn, audit }: DebugSources,
): DebugServiceServer {
  let loaded: Promise<Diagnostics> | undefined;
  const diagnostics = (): Promise<Diagnostics> =>
    (loaded ??= import('./diagnostics.js').then((parts) => new parts.Diagnostics()));

  /** Sends pieces as fast as the client reads them, then ends the call; an aborted call stops the recording. */
  const send = async (call: Call): Promise<void> => {
    const refusal = refusalOf(callers, call, WHAT);
    if (refusal !== undefined) {
      call.emit('error', refusal);
      return;
    }
    requireOn();
    const { kind, seconds } = call.request;
    const make = Object.hasOwn(RECORDINGS, kind) ? RECORDINGS[kind] : undefined;
    if (make === undefined) {
      const wanted = Object.keys(RECORDINGS).join(', ');
      const message = `cannot record ${quoteText(kind)}; wanted one of ${wanted}`;
      throw new FeatureError('invalidArgument', message);
    }
    // A heap contains secrets.
    if (kind === 'heap') await recordAction(call, { callers, audit }, { action: 'debugHeap' });
    const parts = await diagnostics();
    const gone = goneSignal(call);
    if (call.cancelled) return;
    try {
      for await (const data of make(parts, { seconds, signal: gone })) {
        gone.throwIfAborted();
        if (!call.write({ data })) await once(call, 'drain', { signal: gone });
      }
    } catch (error) {
      if (gone.aborted) return;
      throw error;
    }
    call.end();
  };
  return {
    record: (call) =>
      void send(call).catch((error: unknown) => call.emit('error', debugError(error))),
  };
}

/** Here `unavailable` reports a failure or a missing feature of Node.js, not a fault of the host, so it becomes FAILED_PRECONDITION. */
function debugError(error: unknown): ReturnType<typeof toRpcError> {
  return isFeatureError(error) && error.code === 'unavailable'
    ? rpcError(status.FAILED_PRECONDITION, error.code, error.message)
    : toRpcError(error);
}
