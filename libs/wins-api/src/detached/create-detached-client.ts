import { reporter } from '@wins/base';
import { MAX_TIMEOUT_MS } from '../client-options.js';
import type { DaemonCalls } from '../daemon-calls.js';
import { detachedRunsDefinition } from '../definitions/output-streams.js';
import { exitOf } from '../exit-of.js';
import { RunOutput, type DetachedReadRequest } from '../gen/detached-runs.js';
import { LARGEST_UINT32, requireWhole, startRequestOf } from '../run-request.js';
import { wholeStartRequest } from '../whole-message.js';
import type { WinsClient } from '../wins-client.js';
import { detailsOf, endOf, runOf, type DetachedClient } from './detached-client.js';
import { readThroughDaemons } from './read-through-daemons.js';

/** Time to wait for the next daemon; an upgrade takes less. */
const RECONNECT_MS = 60_000;
export function createDetachedClient(
  calls: DaemonCalls,
  stop: WinsClient['stopProcess'],
): DetachedClient {
  const service = detachedRunsDefinition;
  const read: DetachedClient['read'] = (name, options = {}) => {
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
    const open = (from: DetachedReadRequest) => calls.stream(service.read, from, { signal });
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
      const request = {
        ...wholeStartRequest(await startRequestOf(options)),
        detachedName: name,
        detachedRestart: restart,
        ...(maxAgeMs !== undefined && { detachedMaxAgeMs: maxAgeMs }),
      };
      const started = await calls.unary(service.start, request, { signal });
      for (const warning of started.warnings) reporter(onWarning)(warning);
      return started.name;
    },
    list: async (options) => (await calls.unary(service.list, {}, options)).runs.map(runOf),
    inspect: async (name, options) =>
      detailsOf(await calls.unary(service.inspect, { name }, options)),
    read,
    wait: async (name, options) => {
      // Beyond any output, so that only the end is sent.
      const offset = Number.MAX_SAFE_INTEGER;
      for await (const part of read(name, { ...options, offset, follow: true }))
        if (part.stream === 'end') return part.exit;
      return exitOf(undefined);
    },
    stop: (name, options) => stop(name, options),
    startAgain: async (name, options) =>
      runOf(await calls.unary(service.startAgain, { name }, options)),
    restart: async (name, options) => runOf(await calls.unary(service.restart, { name }, options)),
    remove: async (name, options) => {
      const { end } = await calls.unary(service.remove, { name }, options);
      return end && endOf(end);
    },
  };
}

const ONLY = { stdout: RunOutput.STDOUT, stderr: RunOutput.STDERR } as const;
