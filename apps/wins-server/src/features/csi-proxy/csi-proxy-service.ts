import { status } from '@grpc/grpc-js';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import type { CsiProxy } from './csi-proxy.js';
import type { CsiProxyServiceServer } from '@wins/wins-api/contract';
import { messageOf } from '@wins/wins-program';
import { offMessage, statusMessage, stepMessage } from './csi-proxy-status.js';
import type { FeatureView } from '../../kernel/feature.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { administratorsOnly, type Callers } from '../../kernel/rpc/administrators-only.js';

/** What keeps csi-proxy. */
export interface KeptCsiProxy {
  readonly kept: Pick<CsiProxy, 'status' | 'plan' | 'apply'>;
}

/** What the service asks. */
export interface CsiProxyServiceParts {
  readonly csiProxy: Pick<FeatureView<object, KeptCsiProxy>, 'running' | 'reason' | 'require'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** Serves wins.CsiProxyService, for administrators of the host alone. */
export function createCsiProxyService({
  csiProxy,
  callers,
  audit,
}: CsiProxyServiceParts): CsiProxyServiceServer {
  const answer = administratorsOnly(callers, 'tell about csi-proxy or see to it', failure);
  return {
    status: (call, respond) =>
      answer(call, respond, () =>
        csiProxy.running === undefined
          ? offMessage(csiProxy.reason)
          : statusMessage(csiProxy.running.kept.status),
      ),
    apply: (call, respond) =>
      answer(call, respond, async () => {
        const component = csiProxy.require().kept;
        if (call.request.DryRun) {
          const steps = await component.plan();
          const Steps = steps.map(stepMessage);
          return { Steps, Applied: false, Status: statusMessage(component.status) };
        }
        const gone = new AbortController();
        call.once('cancelled', () => gone.abort());
        const { description, key } = callers.clientOf(call);
        const who = { requester: call.getPeer(), client: description };
        await audit.decided({ action: 'csiProxyApply', verdict: 'allowed', ...who }, key);
        const Status = statusMessage(await component.apply(gone.signal));
        return { Steps: [], Applied: true, Status };
      }),
  };
}

/** Errors of the component are known by their name: its code is not part of the daemon until it is on. */
function failure(error: unknown): ReturnType<typeof toRpcError> {
  if (!(error instanceof Error) || error.name !== 'CsiProxyError') return toRpcError(error);
  const code = 'code' in error ? String(error.code) : 'unknown';
  return rpcError(status.FAILED_PRECONDITION, code, messageOf(error));
}
