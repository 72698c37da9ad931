import { cutOutputs, cutPeriodic } from './cut-outputs.js';
import { gunzipText, gzipText } from './gzip-text.js';
import { KEY, type SecretData } from './secret-keys.js';
import {
  failureJson,
  outputsJson,
  parseFailure,
  parseOutputs,
  parsePeriodic,
  periodicJson,
} from './status-encoding.js';

export const MAX_SECRET_BYTES = 1024 * 1024;

/**
 * Cuts outputs so that the changed Secret stays within the size limit. Each output keeps its beginning, with a marker.
 * Returns fitting changes unchanged, and otherwise the smallest possible ones.
 */
export function fitSecret(
  data: SecretData,
  changes: SecretData,
  maxBytes = MAX_SECRET_BYTES,
): SecretData {
  let fitted = changes;
  for (let keepBytes = 512 * 1024; sizeOf({ ...data, ...fitted }) > maxBytes; keepBytes /= 2) {
    if (keepBytes < 1) return fitted;
    fitted = cutAll(changes, keepBytes);
  }
  return fitted;
}

export function sizeOf(data: SecretData): number {
  return Object.values(data).reduce((sum, value) => sum + value.length, 0);
}

function cutAll(changes: SecretData, keepBytes: number): SecretData {
  const cut = { ...changes };
  for (const key of [KEY.appliedOutput, KEY.failedOutput]) {
    const text = gunzipText(changes[key] ?? Buffer.alloc(0));
    if (text !== '') cut[key] = gzipText(outputsJson(cutOutputs(parseOutputs(text), keepBytes)));
  }
  const periodic = gunzipText(changes[KEY.periodicOutput] ?? Buffer.alloc(0));
  if (periodic !== '') {
    const statuses = cutPeriodic(parsePeriodic(periodic), keepBytes);
    cut[KEY.periodicOutput] = gzipText(periodicJson(statuses));
  }
  const failure = parseFailure(changes[KEY.failedInstruction]?.toString() ?? '');
  if (failure !== undefined) {
    const stderrEnd = keepBytes < 1024 ? '' : failure.stderrEnd.slice(-keepBytes);
    cut[KEY.failedInstruction] = Buffer.from(failureJson({ ...failure, stderrEnd }));
  }
  return cut;
}
