import type { RunLimits as LimitsMessage } from './gen/process.js';
import type { EnforcedLimits } from './host-run.js';

/** Decodes the limits of a run; on the wire, 0 means no limit. */
export function limitsOf(limits: LimitsMessage | undefined): EnforcedLimits | undefined {
  if (limits === undefined) return undefined;
  const { memoryBytes, cpuMillis, pids, means } = limits;
  return {
    ...(memoryBytes > 0 && { memoryBytes }),
    ...(cpuMillis > 0 && { cpus: cpuMillis / 1000 }),
    ...(pids > 0 && { pids }),
    means,
  };
}
