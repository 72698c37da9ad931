/** The keys of the Secret that the agent writes. */
export const WRITTEN_KEYS = {
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

/** All that it reads and writes. */
export const KEY = {
  plan: 'plan',
  maxFailures: 'max-failures',
  probePeriod: 'probe-period-seconds',
  ...WRITTEN_KEYS,
} as const;

/** Values of the Secret by their keys. */
export type SecretData = Readonly<Record<string, Buffer>>;
