import type { CsiProxyStatus } from './csi-proxy.js';
import type { Decision } from './decide/decide.js';
import { CsiProxyStatusResponse, type CsiProxyStep } from '@wins/wins-api/contract';

/** What is told of a component that is on. */
export function statusMessage({ state, wanted }: CsiProxyStatus): CsiProxyStatusResponse {
  const failed = state.kind === 'failed' ? state : undefined;
  return CsiProxyStatusResponse.fromPartial({
    ...{ On: true, State: state.kind, Detail: 'detail' in state ? state.detail : state.version },
    ...(failed && {
      ...{ Code: failed.code, Failures: failed.failures, RetryAt: failed.retryAt.toISOString() },
    }),
    ...(wanted && {
      ...{ Version: wanted.version, SHA256: wanted.sha256 ?? '', Address: wanted.address },
      ...{ Folder: wanted.folder, Arguments: [...wanted.args] },
    }),
  });
}

/** What is told of one that is off. */
export function offMessage(reason: string): CsiProxyStatusResponse {
  return CsiProxyStatusResponse.fromPartial({ On: false, Reason: reason });
}

/** A step of a dry run. */
export function stepMessage(step: Decision): CsiProxyStep {
  const { act: Act, reason: Reason } = step;
  const Program = step.act === 'switch' ? step.to.program : '';
  return { Act, Reason, Program };
}
