import type { Outputs, PeriodicStatus } from '../apply/pass.js';
import {
  gunzipText,
  gzipText,
  failureJson,
  outputsJson,
  parseFailure,
  parseOutputs,
  parsePeriodic,
  periodicJson,
} from './status-encoding.js';
import { KEY, type SecretData } from './secret-state.js';

/** Limit for all outputs in base64, before compression: half of `MAX_UNPACKED_BYTES`, because names and times are added. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Maximum length, in bytes, of the marker that replaces the removed bytes. Removing fewer bytes than this would save nothing. */
const MARKER_BYTES = 80;
type Statuses = Readonly<Record<string, PeriodicStatus>>;

/** Keeps the first bytes of each output, and marks how many are missing. */
export function cutOutputs(outputs: Outputs, keepBytes: number): Outputs {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [name, cutOne(output, keepBytes)]),
  );
}

export function cutPeriodic(statuses: Statuses, keepBytes: number): Statuses {
  return Object.fromEntries(
    Object.entries(statuses).map(([name, status]) => {
      const { stdout, stderr } = status;
      const cut = {
        stdout: cutOne(stdout, keepBytes),
        stderr: stderr && cutOne(stderr, keepBytes),
      };
      return [name, { ...status, ...cut }];
    }),
  );
}

export function readableOutputs(outputs: Outputs): Outputs {
  return readable(outputs, cutOutputs, (some) => Object.values(some));
}

export function readablePeriodic(statuses: Statuses): Statuses {
  return readable(statuses, cutPeriodic, (some) =>
    Object.values(some).flatMap(({ stdout, stderr }) => [stdout, stderr]),
  );
}

function readable<T>(
  whole: T,
  cutTo: (whole: T, keepBytes: number) => T,
  outputsOf: (some: T) => readonly (Buffer | null | undefined)[],
): T {
  const isTooLong = (some: T): boolean =>
    outputsOf(some).reduce((sum, output) => sum + base64Bytes(output), 0) > MAX_TEXT_BYTES;
  let cut = whole;
  for (let keepBytes = 256 * 1024; isTooLong(cut) && keepBytes >= 1; keepBytes /= 2)
    cut = cutTo(whole, keepBytes);
  return cut;
}

const base64Bytes = (output: Buffer | null | undefined) => 4 * Math.ceil((output?.length ?? 0) / 3);

function cutOne(output: Buffer | null, keepBytes: number): Buffer | null {
  if (!output || output.length <= keepBytes + MARKER_BYTES) return output;
  const missing = output.length - keepBytes;
  return Buffer.concat([
    output.subarray(0, keepBytes),
    Buffer.from(`\n[${missing} bytes are missing here; the node has the whole output]\n`),
  ]);
}

export const MAX_SECRET_BYTES = 1024 * 1024;

/**
 * Cuts outputs only as needed to keep the changed Secret within the size limit. If no cut suffices, cuts each output to
 * almost nothing.
 */
export function fitSecret(data: SecretData, changes: SecretData, maxBytes = MAX_SECRET_BYTES) {
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
