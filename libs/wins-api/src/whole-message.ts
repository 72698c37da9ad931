import { withDefaults, type Optional } from '@wins/base';
import type { ProcessName, ProcessStartRequest } from './gen/process.js';
import type { RunName } from './runs/runs-client.js';

/** Default values of the wire. */
const NOTHING: ProcessStartRequest = {
  path: '',
  checksum: '',
  checksumSha256: '',
  args: [],
  exposes: [],
  envs: [],
  dir: '',
  replace: false,
  files: [],
  outlivesDaemon: false,
};

/** Fills in the fields of a request that are absent or undefined. */
export function wholeStartRequest(request: Optional<ProcessStartRequest>): ProcessStartRequest {
  return withDefaults(NOTHING, request);
}

export function wholeName({ value, runId = '' }: RunName): ProcessName {
  return { value, runId };
}
