import { toldAddress } from '@wins/base';
import type { ServiceStatus } from '@wins/installation';
import type { CsiProxyErrorCode } from './csi-proxy-error.js';
import type { KeptCsiProxy } from './start-csi-proxy.js';

export type CsiProxyStatus = ServiceStatus<CsiProxyErrorCode>;

export interface CsiProxyFacts extends CsiProxyStatus {
  readonly wanted?: {
    readonly version: string;
    readonly sha256: string | undefined;
    /** Without its query, which may hold a secret. */
    readonly address: string;
    readonly folder: string;
    readonly arguments: readonly string[];
  };
}

/** The status, and the desired state that it is about. */
export type ToldCsiProxy = Pick<KeptCsiProxy, 'status' | 'desired'>;

export function csiProxyFacts({ status, desired }: ToldCsiProxy): CsiProxyFacts {
  if (desired === undefined) return status;
  const { version, sha256, folder, args } = desired;
  const address = toldAddress(desired.url);
  return { ...status, wanted: { version, sha256, address, folder, arguments: args } };
}
