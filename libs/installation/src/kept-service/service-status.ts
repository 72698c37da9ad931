import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * States of a kept service.
 *
 * - `absent`: nothing of ours is installed.
 * - `fetching`: the release is downloaded and unpacked.
 * - `verified`: the program is verified, but the service does not run it yet.
 * - `installed`: the service was started, but its pipe does not exist yet.
 */
export const SERVICE_STATES = [
  'absent',
  'fetching',
  'verified',
  'installed',
  'serving',
  'failed',
] as const;

/** State of a kept service, and why. */
export interface ServiceStatus<Code extends string = string> {
  readonly state: (typeof SERVICE_STATES)[number];
  /** Reason for the state, the failure, or the version that is being installed. */
  readonly detail: string;
  readonly failure?:
    | {
        readonly code: Code;
        /** Consecutive failures. */
        readonly failures: number;
        /** RFC 3339. */
        readonly retryAt: string;
      }
    | undefined;
}

export const RECORD_FILE = 'state.json';
/** Folder of the journal and the manifest, in the folder of the record. */
export const INSTALL_FOLDER = 'install';

/** Whether a {@link KeptService} has, or had, installed something, or has left a change unfinished. */
export function hasKeptService(stateFolder: string): boolean {
  return [RECORD_FILE, INSTALL_FOLDER].some((name) => existsSync(path.join(stateFolder, name)));
}
