import { parseUnixDate } from '../apply/unix-date.js';
import type { FailedInstruction, Outputs, PeriodicStatus, ProbeStatus } from '../apply/pass.js';
import { AgentError } from '../agent-error.js';
import {
  gunzipText,
  parseFailure,
  parseOutputs,
  parsePeriodic,
  parseProbes,
} from './status-encoding.js';

export const WRITTEN_KEYS = {
  appliedChecksum: 'applied-checksum',
  appliedOutput: 'applied-output',
  periodicOutput: 'applied-periodic-output',
  failedChecksum: 'failed-checksum',
  failedOutput: 'failed-output',
  /** The Go agent does not know this key. */
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

const DEFAULT_PERIOD_MS = 5000;
const MIN_PERIOD_MS = 1000;
const MAX_PERIOD_MS = 24 * 60 * 60 * 1000;

export interface SecretState {
  readonly appliedChecksum: string;
  readonly failedChecksum: string;
  readonly failureCount: number;
  /** Absent without a failure, or when the Go agent wrote the Secret. */
  readonly failure?: FailedInstruction;
  readonly successCount: number;
  readonly lastApplyTime?: Date;
  readonly maxFailures?: number;
  /** Absent when the server does not know the key. */
  readonly planState?: string;
  readonly planRevision: number;
  /** From 1 s to a day; 5 s by default. */
  readonly probePeriodMs: number;
  readonly probes: Readonly<Record<string, ProbeStatus>>;
  /** Keys whose unreadable values were replaced by defaults. */
  readonly unreadable: readonly string[];
}

/** Reads the keys like the Go agent: an unreadable value becomes a default, never a failure. */
export function secretState(data: SecretData): SecretState {
  const unreadable: string[] = [];
  const text = (key: string): string => data[key]?.toString('utf8') ?? '';
  const count = (key: string): number => {
    const value = countOf(text(key));
    if (value === undefined && text(key) !== '') unreadable.push(key);
    return value ?? 0;
  };
  const lastApplyTime = parseUnixDate(text(KEY.lastApplyTime));
  if (data[KEY.lastApplyTime] && !lastApplyTime) unreadable.push(KEY.lastApplyTime);
  // Without a valid number, there is no limit.
  const maxFailures = countOf(text(KEY.maxFailures));
  const periodMs = periodOf(text(KEY.probePeriod));
  if (data[KEY.probePeriod] && periodMs === undefined) unreadable.push(KEY.probePeriod);
  const planState = data[KEY.planState]?.toString('utf8');
  const failure = parseFailure(text(KEY.failedInstruction));
  return {
    appliedChecksum: text(KEY.appliedChecksum),
    failedChecksum: text(KEY.failedChecksum),
    failureCount: count(KEY.failureCount),
    ...(failure && { failure }),
    successCount: count(KEY.successCount),
    ...(lastApplyTime && { lastApplyTime }),
    ...(maxFailures !== undefined && { maxFailures }),
    ...(planState !== undefined && { planState }),
    planRevision: count(KEY.planRevision),
    probePeriodMs: periodMs ?? DEFAULT_PERIOD_MS,
    probes: probesOf(data[KEY.probeStatuses], unreadable),
    unreadable,
  };
}

/** Reads the outputs of the failed run if this plan failed before; otherwise those of the applied plan. @throws AgentError `invalidState`. */
export function savedOutputs(data: SecretData, failedBefore: boolean): Outputs {
  return unpacked(data, failedBefore ? KEY.failedOutput : KEY.appliedOutput, parseOutputs);
}

/** @throws AgentError `invalidState`. */
export function savedPeriodic(data: SecretData): Readonly<Record<string, PeriodicStatus>> {
  return unpacked(data, KEY.periodicOutput, parsePeriodic);
}

function unpacked<T>(data: SecretData, key: string, parse: (text: string) => T): T {
  try {
    return parse(gunzipText(data[key] ?? Buffer.alloc(0)));
  } catch {
    // Omit the cause: the error may quote an output.
    const message = `cannot read ${key} of the Secret: it is not JSON in gzip. Remove the key`;
    throw new AgentError('invalidState', message);
  }
}

function probesOf(raw: Buffer | undefined, unreadable: string[]): SecretState['probes'] {
  if (!raw) return {};
  try {
    return parseProbes(raw.toString('utf8'));
  } catch {
    unreadable.push(KEY.probeStatuses);
    return {};
  }
}

/** Rejects negative counts, which would make a failed plan look untried. */
const countOf = (text: string) => (/^\+?\d{1,15}$/.test(text) ? Number(text) : undefined);

/** Accepts fractions, like Go's durations. */
function periodOf(text: string): number | undefined {
  if (!/^\d{1,9}(?:\.\d{0,9})?$|^\.\d{1,9}$/.test(text)) return undefined;
  return Math.min(Math.max(Number(text) * 1000, MIN_PERIOD_MS), MAX_PERIOD_MS);
}
