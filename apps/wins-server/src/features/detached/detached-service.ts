import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { ProcessExit } from '@wins/wins-api';
import {
  detachedRunsDefinition,
  RunOutput,
  type DetachedDetails,
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
  type RunDetails,
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
import { limitsMessage, warningsAbout } from '../runs/process-service.js';
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
    find(call.request.name, call, 'start');
    const kept = await runs()[verb](call.request.name, by, { signal: goneSignal(call) });
    return summaryOf(kept, runs().nameFor(kept, client));
  };
  return {
    start: (call, respond) => {
      const request = startRequestOf(call.request);
      const { id: requester, label: clientSays } = callers.ownerOf(call);
      const by = { client: callers.clientOf(call), requester, clientSays };
      const start = async () => {
        const { detachedName: name, detachedRestart: restart, detachedMaxAgeMs } = call.request;
        const started = await runs().start(request, {
          name,
          restart,
          maxAgeMs: detachedMaxAgeMs,
          by,
          signal: goneSignal(call),
        });
        const kept = runs()
          .list(by.client)
          .find((each) => runs().nameFor(each, by.client) === started);
        return { name: started, warnings: [...warningsAbout(kept?.facts.run.limits)] };
      };
      respondWith(respond, start());
    },

    list: (call, respond) => {
      const list = async () => {
        const client = callers.clientOf(call);
        const seen = runs().list(client);
        const summaries = seen.map((kept) => summaryOf(kept, runs().nameFor(kept, client)));
        return Promise.resolve({ runs: summaries });
      };
      respondWith(respond, list());
    },

    inspect: (call, respond) => {
      const inspect = async () => {
        const client = callers.clientOf(call);
        const kept = runs().find(call.request.name, client);
        return detailsOf(kept, runs().nameFor(kept, client), await runs().inspect(kept));
      };
      respondWith(respond, inspect());
    },

    startAgain: (call, respond) => {
      respondWith(respond, control(call, 'startAgain'));
    },

    restart: (call, respond) => {
      respondWith(respond, control(call, 'restart'));
    },

    read: (call) => {
      const send = async () => {
        const kept = find(call.request.name, call, 'wait');
        const client = callers.clientOf(call);
        const gone = goneSignal(call);
        const wanted = { ...wantedOf(call.request), signal: gone };
        const all = runs();
        const reader = all.read(kept, wanted, searchInTurn(client, searches, scheduler));
        if (wanted.lines !== undefined || wanted.sinceMs !== undefined)
          call.write({
            offset: await reader.begin(),
            writtenAtMs: 0,
            options: undefined,
          });
        if (!(await sendOutput(call, gone, reader, partMessage))) return;
        if (all.isClosed)
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

    remove: (call, respond) => {
      const remove = async () => {
        const { name } = call.request;
        find(name, call, 'stop');
        const by = { client: callers.clientOf(call), requester: callers.ownerOf(call).id };
        const end = await runs().remove(name, by);
        return end === undefined ? {} : { end: endMessage(end) };
      };
      respondWith(respond, remove());
    },
  };
}

function wantedOf({
  offset,
  sinceMs,
  tailLines,
  only,
  follow,
}: DetachedReadRequest): OutputReadOptions {
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

function partMessage(part: OutputPart): DetachedReadResponse {
  const { offset, stream, bytes } = part;
  if (stream === 'skipped')
    return { offset, writtenAtMs: 0, options: { $case: 'skipped', value: bytes } };
  const $case = stream === 'stdout' ? 'stdOut' : 'stdErr';
  return { offset, writtenAtMs: part.timeMs, options: { $case, value: bytes } };
}

function summaryOf(kept: DetachedRun, name: string): DetachedSummary {
  const { facts, end, plan, refused } = kept;
  const next = end === undefined ? undefined : plan?.next;
  const mayRestart = plan?.when !== 'never' && lastEndOf(kept) === undefined;
  return {
    name,
    process: facts.run.name,
    path: facts.run.path,
    pid: facts.pid,
    startedAtMs: facts.startedAtMs satisfies ProcessSummary['startedAtMs'],
    ...(end && isBegun(kept) && { end: endMessage(end) }),
    restarts: plan?.restarts ?? 0,
    restartAtMs: next?.kind === 'again' ? next.atMs : 0,
    gaveUp: next?.kind === 'gaveUp' ? next.reason : '',
    state: stateOf(kept),
    refused: refused?.message ?? '',
    needsSha256: (mayRestart && plan?.request.sha256) || '',
  };
}

function detailsOf(kept: DetachedRun, name: string, details: RunDetails): DetachedDetails {
  const { facts, plan } = kept;
  const { args = [], envs = [], directory = '' } = plan?.request ?? {};
  return {
    summary: summaryOf(kept, name),
    args: [...args],
    variables: envs.map((variable) => variable.replace(/=[^]*/, '')),
    directory,
    sha256: facts.run.sha256,
    ...limitsMessage(facts.run),
    owner: details.owner ?? 'config',
    restartPolicy: details.restart,
    failures: plan?.failures ?? 0,
    outputBytes: details.outputBytes,
    keptBytes: details.keptBytes,
    maxKeptBytes: facts.spoolBytes,
    ...(facts.maxAgeMs < Number.MAX_SAFE_INTEGER && { maxAgeMs: facts.maxAgeMs }),
  };
}

function endMessage({ code, signal = '', reason, endedAtMs, outputBytes }: RunEnd): DetachedEnd {
  return { exit: { code, signal, reason } satisfies ProcessExit, endedAtMs, outputBytes };
}
