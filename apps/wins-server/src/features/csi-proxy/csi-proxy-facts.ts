import { toldAddress } from '@wins/base';
import type { CsiProxyErrorCode } from './csi-proxy-error.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

/**
 * - `absent`: nothing of ours is installed.
 * - `fetching`: the archive is downloaded and unpacked.
 * - `verified`: the program is verified, but the service does not run it yet.
 * - `installed`: the service was started, but its pipe does not exist yet.
 */
export const STATES = ['absent', 'fetching', 'verified', 'installed', 'serving', 'failed'] as const;

export interface CsiProxyStatus {
  readonly state: (typeof STATES)[number];
  /** Reason for the state, the failure, or the version that is being installed. */
  readonly detail: string;
  readonly failure?: {
    readonly code: CsiProxyErrorCode;
    /** Consecutive failures. */
    readonly failures: number;
    /** RFC 3339. */
    readonly retryAt: string;
  };
}

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
export interface KeptCsiProxy {
  readonly status: CsiProxyStatus;
  readonly desired: DesiredCsiProxy | undefined;
}

export function csiProxyFacts({ status, desired }: KeptCsiProxy): CsiProxyFacts {
  if (desired === undefined) return status;
  const { version, sha256, folder, args } = desired;
  const address = toldAddress(desired.url);
  return { ...status, wanted: { version, sha256, address, folder, arguments: args } };
}
