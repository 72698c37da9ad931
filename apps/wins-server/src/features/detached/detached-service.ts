import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { ProcessExit } from '@wins/wins-api';
import {
  detachedRunsDefinition,
  RunOutput,
  type DetachedEnd,
  type DetachedNameRequest,
  type DetachedReadRequest,
  type DetachedReadResponse,
  type DetachedRunsServer,
  type DetachedSummary,
  type ProcessSummary,
} from '@wins/wins-api/contract';
import { quoteText } from '@wins/base';
import {
  isBegun,
  lastEndOf,
  ProcessError,
  stateOf,
  type DetachedRuns,
  type DetachedRun,
  type RunEnd,
  type OutputPart,
  type OutputReadOptions,
} from '@wins/process-manager';
import { FeatureError } from '../../kernel/feature-error.js';
import { searchInTurn } from '../../kernel/admission/search-turns.js';
import type { Kernel } from '../../kernel/feature.js';
import { goneSignal, type Callers } from '../../kernel/rpc/administrators-only.js';
import type { Caller } from '../../kernel/rpc/connections.js';
import { respondWith, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { decodeExactly, startRequestOf } from '../runs/decode-start-request.js';
import { warningsAbout } from '../runs/process-service.js';
import { sendOutput } from '../runs/send-output.js';

/** Decodes the lists of a start request only up to their limits, and refuses unknown fields. */
export const servedDetachedDefinition: typeof detachedRunsDefinition = {
  ...detachedRunsDefinition,
  start: { ...detachedRunsDefinition.start, requestDeserialize: decodeExactly },
};

/** A client sees its own runs; an administrator of the host sees all. */
export function createDetachedService(
  runs: () => DetachedRuns,
  callers: Callers,
  {
    audit,
    resources: { searches },
    pipe: { scheduler },
  }: Pick<Kernel, 'audit' | 'resources' | 'pipe'>,
): DetachedRunsServer {
  /** Records that the access is refused, or allowed. */
  const find = (label: string, caller: Caller, action: 'wait' | 'start' | 'stop'): DetachedRun => {
    const client = callers.clientOf(caller);
    const asked = { action, requester: callers.ownerOf(caller).id, client: client.description };
    try {
      const kept = runs().find(label, client);
      const { mark, path, name } = kept.facts.run;
      const runName = kept.label;
      // Starts, and stops of living runs, are recorded where they happen.
      if (action === 'wait' || (action === 'stop' && kept.process === undefined))
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
  const control = async (
    call: ServerUnaryCall<DetachedNameRequest, DetachedSummary>,
    verb: 'startAgain' | 'restart',
  ): Promise<DetachedSummary> => {
    const client = callers.clientOf(call);
    const by = { client, requester: callers.ownerOf(call).id };
    find(call.request.Name, call, 'start');
    const kept = await runs()[verb](call.request.Name, by, goneSignal(call));
    return summaryOf(kept, runs().nameFor(kept, client));
  };
  return {
    start: (call, respond) => {
      const request = startRequestOf(call.request);
      const { id: requester, label: clientSays } = callers.ownerOf(call);
      const by = { client: callers.clientOf(call), requester, clientSays };
      const start = async () => {
        const { DetachedName: name, DetachedRestart: restart } = call.request;
        const Name = await runs().start(request, { name, restart, by, signal: goneSignal(call) });
        const kept = runs()
          .list(by.client)
          .find((each) => runs().nameFor(each, by.client) === Name);
        return { Name, Warnings: [...warningsAbout(kept?.facts.run.limits)] };
      };
      respondWith(respond, start());
    },

    list: (call, respond) => {
      const list = async () => {
        const client = callers.clientOf(call);
        const seen = runs().list(client);
        const Runs = seen.map((kept) => summaryOf(kept, runs().nameFor(kept, client)));
        return Promise.resolve({ Runs });
      };
      respondWith(respond, list());
    },

    startAgain: (call, respond) => {
      respondWith(respond, control(call, 'startAgain'));
    },

    restart: (call, respond) => {
      respondWith(respond, control(call, 'restart'));
    },

    read: (call) => {
      const send = async () => {
        const kept = find(call.request.Name, call, 'wait');
        const client = callers.clientOf(call);
        const gone = goneSignal(call);
        const wanted = { ...wantedOf(call.request), signal: gone };
        const all = runs();
        const reader = all.read(kept, wanted, searchInTurn(client, searches, scheduler));
        if (wanted.lines !== undefined || wanted.sinceMs !== undefined)
          call.write({
            Offset: BigInt(await reader.begin()),
            WrittenAtMs: 0n,
            Options: undefined,
          });
        if (!(await sendOutput(call, gone, reader, partMessage))) return;
        if (all.isClosed)
          throw new FeatureError('shuttingDown', 'cannot follow a run: the daemon is stopping');
        const end = lastEndOf(kept);
        if (end !== undefined && !isBegun(kept)) throw neverStarted(kept);
        if (end !== undefined)
          call.write({
            Offset: BigInt(end.outputBytes),
            WrittenAtMs: BigInt(end.endedAtMs),
            Options: { $case: 'End', value: endMessage(end) },
          });
        call.end();
      };
      send().catch((error: unknown) => call.emit('error', toRpcError(error)));
    },

    remove: (call, respond) => {
      const remove = async () => {
        const { Name } = call.request;
        find(Name, call, 'stop');
        const by = { client: callers.clientOf(call), requester: callers.ownerOf(call).id };
        const end = await runs().remove(Name, by);
        return end === undefined ? {} : { End: endMessage(end) };
      };
      respondWith(respond, remove());
    },
  };
}

function wantedOf({
  Offset,
  SinceMs,
  TailLines,
  Only,
  Follow,
}: DetachedReadRequest): OutputReadOptions {
  return {
    offset: Number(Offset),
    lines: TailLines,
    sinceMs: SinceMs > 0n ? Number(SinceMs) : undefined,
    only: Only === RunOutput.STDOUT ? 'stdout' : Only === RunOutput.STDERR ? 'stderr' : undefined,
    follow: Follow,
  };
}

function neverStarted({ label, refused }: DetachedRun): ProcessError {
  const why = refused?.message ?? 'the config does not keep it any more';
  const message = `cannot follow ${quoteText(label)}: it was never started: ${why}`;
  return new ProcessError(refused?.code ?? 'notFound', message);
}

function partMessage(part: OutputPart): DetachedReadResponse {
  const Offset = BigInt(part.offset);
  if (part.stream === 'skipped') {
    const Options = { $case: 'Skipped', value: BigInt(part.bytes) } as const;
    return { Offset, WrittenAtMs: 0n, Options };
  }
  const $case = part.stream === 'stdout' ? 'StdOut' : 'StdErr';
  return {
    ...{ Offset, WrittenAtMs: BigInt(part.timeMs) },
    Options: { $case, value: part.bytes },
  };
}

function summaryOf(kept: DetachedRun, name: string): DetachedSummary {
  const { facts, end, plan, refused } = kept;
  const next = end === undefined ? undefined : plan?.next;
  const mayRestart = plan?.when !== 'never' && lastEndOf(kept) === undefined;
  return {
    Name: name,
    Process: facts.run.name,
    Path: facts.run.path,
    PID: facts.pid,
    StartedAtMs: BigInt(facts.startedAtMs) satisfies ProcessSummary['StartedAtMs'],
    ...(end && isBegun(kept) && { End: endMessage(end) }),
    Restarts: plan?.restarts ?? 0,
    RestartAtMs: BigInt(next?.kind === 'again' ? next.atMs : 0),
    GaveUp: next?.kind === 'gaveUp' ? next.reason : '',
    State: stateOf(kept),
    Refused: refused?.message ?? '',
    NeedsSha256: (mayRestart && plan?.request.sha256) || '',
  };
}

function endMessage({ code, signal = '', reason, endedAtMs, outputBytes }: RunEnd): DetachedEnd {
  return {
    Exit: { Code: code, Signal: signal, Reason: reason } satisfies ProcessExit,
    ...{ EndedAtMs: BigInt(endedAtMs), OutputBytes: BigInt(outputBytes) },
  };
}
