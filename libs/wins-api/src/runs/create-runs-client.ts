import { MAX_TIMEOUT_MS } from '../client-options.js';
import type { DaemonCalls } from '../daemon-calls.js';
import { runsDefinition } from '../definitions/output-streams.js';
import { RunOutput, type RunEnd, type RunReadRequest } from '../gen/runs.js';
import { LARGEST_UINT32, requireWhole, startRequestOf } from '../run-request.js';
import type { WinsClient } from '../wins-client.js';
import { readThroughDaemons } from './read-through-daemons.js';
import { UNKNOWN_EXIT, type MeasuredRun, type RunsClient } from './runs-client.js';

/** Time to wait for the next daemon; an upgrade takes less. */
const RECONNECT_MS = 60_000;

export function createRunsClient(
  calls: DaemonCalls,
  startProcess: WinsClient['startProcess'],
): RunsClient {
  const read: RunsClient['read'] = (name, options = {}) => {
    const { follow = false, offset = 0, since, tailLines, only, signal } = options;
    const { reconnectTimeoutMs = RECONNECT_MS, onDaemonChange } = options;
    requireWhole('offset', offset, Number.MAX_SAFE_INTEGER);
    requireWhole('tailLines', tailLines ?? 0, LARGEST_UINT32);
    requireWhole('reconnectTimeoutMs', reconnectTimeoutMs, MAX_TIMEOUT_MS);
    // The wire has no earlier times.
    const sinceMs = Math.max(0, since?.getTime() ?? 0);
    requireWhole('since', sinceMs, Number.MAX_SAFE_INTEGER);
    const request = {
      name,
      offset,
      sinceMs,
      tailLines,
      follow,
      only: only === undefined ? RunOutput.BOTH : ONLY[only],
    };
    const open = (from: RunReadRequest) => calls.stream(runsDefinition.read, from, { signal });
    return readThroughDaemons(request, {
      open,
      reconnectTimeoutMs,
      hasDaemon: false,
      signal,
      onDaemonChange,
    });
  };
  return {
    start: async ({ name = '', restart = '', maxAgeMs, onWarning, signal, ...options }) => {
      requireWhole('maxAgeMs', maxAgeMs ?? 0, Number.MAX_SAFE_INTEGER);
      const request = { ...(await startRequestOf(options)), keep: { name, restart, maxAgeMs } };
      return (await startProcess(request, { onWarning, signal })).value;
    },
    list: async ({ all = false, ...options } = {}) =>
      (await calls.unary(runsDefinition.list, { all, measured: false, name: '' }, options)).runs,
    measure: async (name = '', options) => {
      const request = { all: false, measured: true, name };
      const { takenAtUs, runs } = await calls.unary(runsDefinition.list, request, options);
      return {
        takenAtUs,
        runs: runs.filter((run): run is MeasuredRun => run.figures !== undefined),
      };
    },
    inspect: (name, options) => calls.unary(runsDefinition.inspect, { name }, options),
    read,
    wait: async (name, options) => {
      // Beyond any output, so that only the end is sent.
      const offset = Number.MAX_SAFE_INTEGER;
      for await (const { stream, ...part } of read(name, { ...options, offset, follow: true }))
        if (stream === 'end') return part as RunEnd;
      return UNKNOWN_EXIT;
    },
    stop: (run, { force = false, ...options } = {}) => {
      const { value: name, runId = '' } = typeof run === 'string' ? { value: run } : run;
      const request = { name, runId: runId === '' ? undefined : runId, force };
      return calls.unary(runsDefinition.stop, request, options);
    },
    startAgain: (name, options) => calls.unary(runsDefinition.startAgain, { name }, options),
    restart: (name, options) => calls.unary(runsDefinition.restart, { name }, options),
    remove: async (name, options) =>
      (await calls.unary(runsDefinition.remove, { name }, options)).end,
  };
}

const ONLY = { stdout: RunOutput.STDOUT, stderr: RunOutput.STDERR } as const;
