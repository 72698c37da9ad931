import { reporter } from '@wins/base';
import { UNKNOWN_PARTS, WinsClientError } from './client-error.js';
import { createConfigClient } from './config-client.js';
import { DaemonCalls, methodName } from './daemon-calls.js';
import { healthCheckDefinition } from './definitions/health-check-definition.js';
import { processServiceDefinition } from './definitions/output-streams.js';
import { ApplicationServiceService } from './gen/application.js';
import type { ProcessStartRequest } from './gen/process.js';
import { createHostClient, type Ask } from './host-client.js';
import { createKeepAliveHandle } from './keep-alive-handle.js';
import { holdProcess } from './held-process.js';
import { createRunsClient } from './runs/create-runs-client.js';
import { startRun } from './start-run.js';
import { wholeName, wholeStartRequest } from './whole-message.js';
import type { WinsClient, WinsClientOptions } from './wins-client.js';

/**
 * Creates a client, which connects at its first call. The caller closes the client. @throws WinsClientError
 * `invalidRequest`
 */
export function createWinsClient(options: WinsClientOptions = {}): WinsClient {
  const calls = new DaemonCalls(options);
  const { start, startExactly, wait, keepAlive } = processServiceDefinition;

  /** An answer without the wanted part is an error. */
  const ask: Ask = async (method, request, part, callOptions = {}) => {
    const found = part(await calls.unary(method, request, callOptions));
    if (found !== undefined) return found;
    const details = 'the answer is empty';
    const { address } = calls;
    throw new WinsClientError('internal', { method: methodName(method), address, details });
  };

  const client: WinsClient = {
    host: createHostClient(ask),
    config: createConfigClient((...call) => calls.unary(...call)),
    runs: createRunsClient(calls, (...started) => client.startProcess(...started)),
    run: (runOptions) => startRun(client, runOptions),
    startProcess: async (request, { onWarning, onLease, ...callOptions } = {}) => {
      const whole = wholeStartRequest(request);
      const isNew =
        whole.limits !== undefined ||
        whole.replace ||
        whole.files.length > 0 ||
        whole.keep !== undefined;
      const begin = (message: ProcessStartRequest) =>
        ask(
          // A daemon ignores fields of `start` that it does not know. It refuses them in `startExactly`, or is too old to have that call.
          isNew ? startExactly : start,
          message,
          ({ data, warnings, leaseMs }) => data && { name: data, warnings, leaseMs },
          callOptions,
        );
      const { name, warnings, leaseMs } = await begin(whole).catch((error: unknown) => {
        const isOld = error instanceof WinsClientError && error.details.includes(UNKNOWN_PARTS);
        if (!isOld || !whole.outlivesDaemon) throw error;
        // An older daemon does not support `OutlivesDaemon`. Start the run without it, instead of failing.
        return begin({ ...whole, outlivesDaemon: false });
      });
      for (const warning of warnings) reporter(onWarning)(warning);
      if (leaseMs > 0) reporter(onLease)(leaseMs);
      return name;
    },
    waitProcess: (name, callOptions) => calls.stream(wait, { data: wholeName(name) }, callOptions),
    keepAlive: (name, callOptions) => {
      const { call, result } = calls.send(keepAlive, callOptions);
      return createKeepAliveHandle({ data: wholeName(name) }, call, result);
    },
    holdProcess: (name, holdOptions) => holdProcess(client, name, holdOptions),
    info: (callOptions) => ask(ApplicationServiceService.info, {}, ({ info }) => info, callOptions),
    isServing: (callOptions) => calls.unary(healthCheckDefinition, {}, callOptions),
    call: (method, request, callOptions) => calls.unary(method, request, callOptions),
    stream: (method, request, callOptions) => calls.stream(method, request, callOptions),
    close: () => calls.close(),
    [Symbol.asyncDispose]: () => calls.close(),
  };
  return client;
}
