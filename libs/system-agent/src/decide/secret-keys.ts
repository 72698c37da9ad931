/** The keys of the Secret that the agent reads and writes. */
export const KEY = {
  plan: 'plan',
  maxFailures: 'max-failures',
  probePeriod: 'probe-period-seconds',
  appliedChecksum: 'applied-checksum',
  appliedOutput: 'applied-output',
  periodicOutput: 'applied-periodic-output',
  failedChecksum: 'failed-checksum',
  failedOutput: 'failed-output',
  /** Ours alone: why. */
  failedInstruction: 'failed-instruction',
  failureCount: 'failure-count',
  successCount: 'success-count',
  lastApplyTime: 'last-apply-time',
  probeStatuses: 'probe-statuses',
  planState: 'plan-state',
  planRevision: 'plan-revision',
} as const;

/** Those that the agent writes. */
export const WRITTEN_KEYS = [
  KEY.appliedChecksum,
  KEY.appliedOutput,
  KEY.periodicOutput,
  KEY.failedChecksum,
  KEY.failedOutput,
  KEY.failedInstruction,
  KEY.failureCount,
  KEY.successCount,
  KEY.lastApplyTime,
  KEY.probeStatuses,
  KEY.planState,
  KEY.planRevision,
] as const;

/** Values of the Secret by their keys. */
export type SecretData = Readonly<Record<string, Buffer>>;
