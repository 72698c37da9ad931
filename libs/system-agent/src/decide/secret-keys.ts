/** The keys of the Secret that the agent writes. */
export const WRITTEN_KEYS = {
  appliedChecksum: 'applied-checksum',
  appliedOutput: 'applied-output',
  periodicOutput: 'applied-periodic-output',
  failedChecksum: 'failed-checksum',
  failedOutput: 'failed-output',
  /** Unknown to the original: the reason of the failure. */
  failedInstruction: 'failed-instruction',
  failureCount: 'failure-count',
  successCount: 'success-count',
  lastApplyTime: 'last-apply-time',
  probeStatuses: 'probe-statuses',
  planState: 'plan-state',
  planRevision: 'plan-revision',
} as const;

export const KEY = {
  plan: 'plan',
  maxFailures: 'max-failures',
  probePeriod: 'probe-period-seconds',
  ...WRITTEN_KEYS,
} as const;

export type SecretData = Readonly<Record<string, Buffer>>;
