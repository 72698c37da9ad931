import { status } from '@grpc/grpc-js';
import type { MetricsServiceServer } from '@wins/wins-api/contract';
import type { MetricsSwitch } from './feature.js';
import { rpcError, toRpcError } from '../../rpc/rpc-errors.js';
import { administratorsOnly, type Callers } from '../../rpc/administrators-only.js';

/** What the service asks. */
export interface MetricsServiceParts {
  readonly metrics: Pick<MetricsSwitch, 'running' | 'reason'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
}

/** Why a call cannot be answered: no metrics are kept. */
class MetricsOffError extends Error {
  override readonly name = 'MetricsOffError';
}

/** Serves wins.MetricsService, for administrators of the host alone. */
export function createMetricsService({
  metrics,
  callers,
}: MetricsServiceParts): MetricsServiceServer {
  const answer = administratorsOnly(callers, 'tell the metrics', failure);
  return {
    scrape: (call, respond) =>
      answer(call, respond, async () => {
        const { running } = metrics;
        if (running !== undefined) return { Text: await running.scrape() };
        const message = `cannot tell the metrics: found that they are off: ${metrics.reason}; wanted them on; see "metrics" in the config`;
        throw new MetricsOffError(message);
      }),
  };
}

function failure(error: unknown): ReturnType<typeof toRpcError> {
  if (error instanceof MetricsOffError)
    return rpcError(status.FAILED_PRECONDITION, 'metricsOff', error.message);
  return toRpcError(error);
}
