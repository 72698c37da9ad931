import type { PassResult } from '../apply/pass.js';
import { unixDate } from '../apply/unix-date.js';
import { readableOutputs, readablePeriodic } from './cut-outputs.js';
import type { Decision } from './decide-pass.js';
import {
  gunzipText,
  gzipText,
  failureJson,
  outputsJson,
  periodicJson,
  probesJson,
} from './status-encoding.js';
import { KEY, type SecretData, type SecretState } from './secret-state.js';

export interface EndedPass {
  readonly state: SecretState;
  readonly checksum: string;
  readonly decision: Exclude<Decision, { kind: 'announce' }>;
  readonly firstPass: boolean;
  readonly startedAt: Date;
  readonly result: PassResult;
}

/** Omits keys that already have the new value. */
export function secretChanges(pass: EndedPass, data: SecretData): SecretData {
  const texts = { ...statusTexts(pass, data), ...outcomeTexts(pass) };
  const changes: [string, Buffer][] = [];
  for (const [key, text] of Object.entries(texts)) {
    // The Go agent does not know this key: create it only for a failure.
    if (key === KEY.failedInstruction && text === '' && !data[key]) continue;
    const packed = PACKED.has(key) && text !== '';
    if (currentText(data[key], packed) !== text)
      changes.push([key, packed ? gzipText(text) : Buffer.from(text)]);
  }
  return Object.fromEntries(changes);
}

export const announcement = (revision: number): SecretData => ({
  [KEY.planState]: Buffer.from('in-progress'),
  [KEY.planRevision]: Buffer.from(String(revision)),
});

const PACKED = new Set<string>([KEY.appliedOutput, KEY.failedOutput, KEY.periodicOutput]);

function statusTexts({ state, decision, result }: EndedPass, data: SecretData) {
  const texts: Record<string, string> = {
    [KEY.periodicOutput]: periodicJson(readablePeriodic(result.periodic)),
    [KEY.probeStatuses]: probesJson(result.probes),
  };
  // Like the Go agent, write even empty maps, so that a removed key reappears.
  if (decision.kind === 'apply' || state.planState === undefined) return texts;
  // Add no keys for a plan that has never run.
  return Object.fromEntries(
    Object.entries(texts).filter(([key, text]) => text !== '{}' || data[key] !== undefined),
  );
}

function outcomeTexts(pass: EndedPass): Record<string, string> {
  const { state, decision, result, checksum } = pass;
  if (decision.kind === 'watchOver') {
    // An applied plan has no failure, even if an earlier attempt failed.
    return decision.reason === 'applied' ? NO_FAILURE : {};
  }
  const planState = (outcome: string): Record<string, string> =>
    state.planState === undefined ? {} : { [KEY.planState]: outcome };
  const lastApplyTime = { [KEY.lastApplyTime]: unixDate(pass.startedAt) };
  if (result.succeeded)
    return {
      ...NO_FAILURE,
      ...lastApplyTime,
      ...planState('succeeded'),
      [KEY.appliedChecksum]: checksum,
      [KEY.appliedOutput]: outputsJson(readableOutputs(result.outputs)),
      [KEY.successCount]: String(state.successCount + 1),
    };
  return {
    ...lastApplyTime,
    ...planState('failed'),
    ...(pass.firstPass && state.planState === undefined && { [KEY.appliedChecksum]: '' }),
    [KEY.failedChecksum]: checksum,
    [KEY.failedOutput]: outputsJson(readableOutputs(result.outputs)),
    [KEY.failedInstruction]: result.failure ? failureJson(result.failure) : '',
    [KEY.failureCount]: String(decision.attempt),
    [KEY.successCount]: '0',
  };
}

const NO_FAILURE = {
  [KEY.failedChecksum]: '',
  [KEY.failedOutput]: '',
  [KEY.failedInstruction]: '',
  [KEY.failureCount]: '0',
};

/** Unpacks for comparison, because Go and zlib compress differently. Undefined for invalid gzip. */
function currentText(value: Buffer | undefined, packed: boolean): string | undefined {
  if (!packed || !value) return value?.toString('utf8');
  try {
    return gunzipText(value);
  } catch {
    return undefined;
  }
}
