import { APPLY } from './actions.js';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import {
  CsiProxyStatusResponse,
  type CsiProxyServiceServer,
  type CsiProxyStep,
} from '@wins/wins-api/contract';
import { toldAddress } from '@wins/base';
import type { FeatureView } from '../../kernel/feature.js';
import {
  administratorsOnly,
  goneSignal,
  recordAction,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import type { Keeper } from './keeper.js';

export interface KeptCsiProxy {
  readonly kept: Pick<Keeper, 'state' | 'desired' | 'plan' | 'apply'>;
}

export interface CsiProxyServiceParts {
  readonly csiProxy: Pick<FeatureView<object, KeptCsiProxy>, 'running' | 'reason' | 'require'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

export function createCsiProxyService(parts: CsiProxyServiceParts): CsiProxyServiceServer {
  const { csiProxy, callers } = parts;
  const answer = administratorsOnly(callers, 'show or apply csi-proxy');
  return {
    status: (call, respond) =>
      answer(call, respond, () =>
        csiProxy.running === undefined
          ? CsiProxyStatusResponse.fromPartial({ On: false, Reason: csiProxy.reason })
          : statusMessage(csiProxy.running.kept),
      ),
    apply: (call, respond) =>
      answer(call, respond, async () => {
        const { kept } = csiProxy.require();
        if (call.request.DryRun) {
          const Steps = (await kept.plan()).map((step): CsiProxyStep => ({
            ...{ Act: step.action, Reason: step.reason },
            Program: step.action === 'switch' ? step.to.program : '',
          }));
          return { Steps, Applied: false, Status: statusMessage(kept) };
        }
        const gone = goneSignal(call);
        await recordAction(call, parts, APPLY);
        const state = await kept.apply(gone);
        return {
          Steps: [],
          Applied: true,
          Status: statusMessage({ state, desired: kept.desired }),
        };
      }),
  };
}

function statusMessage({
  state,
  desired,
}: Pick<Keeper, 'state' | 'desired'>): CsiProxyStatusResponse {
  const failed = state.kind === 'failed' ? state : undefined;
  return CsiProxyStatusResponse.fromPartial({
    ...{ On: true, State: state.kind, Detail: 'detail' in state ? state.detail : state.version },
    ...(failed && {
      ...{ Code: failed.code, Failures: failed.failures, RetryAt: failed.retryAt.toISOString() },
    }),
    ...(desired && {
      ...{
        Version: desired.version,
        SHA256: desired.sha256 ?? '',
        Address: toldAddress(desired.url),
      },
      ...{ Folder: desired.folder, Arguments: [...desired.args] },
    }),
  });
}
