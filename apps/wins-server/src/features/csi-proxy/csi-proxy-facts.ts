import { toldAddress } from '@wins/base';
import type { CsiProxyErrorCode } from './csi-proxy-error.js';
import type { CsiProxyState } from './decide/component-state.js';
import type { Keeper } from './keeper.js';

export interface CsiProxyFacts {
  readonly state: CsiProxyState['kind'];
  /** Reason for the state, the failure, or the version that is being installed. */
  readonly detail: string;
  readonly failure?: {
    readonly code: CsiProxyErrorCode;
    /** Consecutive failures. */
    readonly failures: number;
    /** RFC 3339. */
    readonly retryAt: string;
  };
  readonly wanted?: {
    readonly version: string;
    readonly sha256: string | undefined;
    /** Without its query, which may hold a secret. */
    readonly address: string;
    readonly folder: string;
    readonly arguments: readonly string[];
  };
}

export function csiProxyFacts({
  state,
  desired,
}: Pick<Keeper, 'state' | 'desired'>): CsiProxyFacts {
  return {
    state: state.kind,
    detail: 'detail' in state ? state.detail : state.version,
    ...(state.kind === 'failed' && {
      failure: {
        code: state.code,
        failures: state.failures,
        retryAt: state.retryAt.toISOString(),
      },
    }),
    ...(desired && {
      wanted: {
        version: desired.version,
        sha256: desired.sha256,
        address: toldAddress(desired.url),
        folder: desired.folder,
        arguments: desired.args,
      },
    }),
  };
}
