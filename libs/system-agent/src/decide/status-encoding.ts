import * as z from 'zod/mini';
import type { FailedInstruction, Outputs, PeriodicStatus, ProbeStatus } from '../apply/pass.js';
import { goJson, goMap, goStruct } from '../plan/go-json.js';
import { gunzipSync, gzipSync } from 'node:zlib';

const text = z.nullish(z.string());
type Text = z.infer<typeof text>;

const bytesOf = (base64: Text): Buffer | null => (base64 ? Buffer.from(base64, 'base64') : null);
const bytes = z.pipe(text, z.transform(bytesOf));
const stderr = z.pipe(
  text,
  z.transform((base64: Text) => (base64 === '' ? undefined : bytesOf(base64))),
);
const count = z.catch(z.int(), 0);
const time = z.catch(z.string(), '');

const periodicStatus = z.object({
  name: z.catch(z.string(), ''),
  stdout: bytes,
  stderr,
  exitCode: count,
  lastSuccessfulRunTime: time,
  failures: count,
  lastFailedRunTime: time,
});
const probeStatus = z.object({
  healthy: z._default(z.boolean(), false),
  successCount: z._default(z.int(), 0),
  failureCount: z._default(z.int(), 0),
});

const outputs = mapOf(bytes);
const periodic = mapOf(periodicStatus);
const probes = mapOf(probeStatus);
const failedInstruction = z.object({
  instruction: z.pipe(
    z.string(),
    z.transform((name: string) => name.slice(0, MAX_NAME)),
  ),
  exitCode: z.int(),
  stderr: z.string(),
});
/** Limits for parsed texts, because another writer may have stored a megabyte. */
const MAX_NAME = 256;
const MAX_STDERR = 4096;

/** `{"name":"<base64>"}`. An empty output is `null`. */
export const outputsJson = (saved: Outputs): string => goMap(saved, base64Json);

/** @throws Error if `text` is neither empty nor JSON as {@link outputsJson} makes it; the error may quote `text`. */
export function parseOutputs(text: string): Outputs {
  return text === '' ? {} : outputs.parse(JSON.parse(text));
}

export function periodicJson(statuses: Readonly<Record<string, PeriodicStatus>>): string {
  return goMap(statuses, (status) =>
    goStruct([
      ['name', goJson(status.name)],
      ['stdout', base64Json(status.stdout)],
      // `""` means that stderr was not saved, `null` that it was empty.
      ['stderr', status.stderr === undefined ? '""' : base64Json(status.stderr)],
      ['exitCode', String(status.exitCode)],
      ['lastSuccessfulRunTime', goJson(status.lastSuccessfulRunTime)],
      ['failures', String(status.failures)],
      ['lastFailedRunTime', goJson(status.lastFailedRunTime)],
    ]),
  );
}

/** @throws Error if `text` is neither empty nor JSON as {@link periodicJson} makes it; the error may quote `text`. */
export function parsePeriodic(text: string): Readonly<Record<string, PeriodicStatus>> {
  return text === '' ? {} : periodic.parse(JSON.parse(text));
}

export function probesJson(statuses: Readonly<Record<string, ProbeStatus>>): string {
  return goMap(statuses, ({ healthy, successCount, failureCount }) =>
    goStruct([
      ['healthy', healthy ? 'true' : undefined],
      ['successCount', successCount ? String(successCount) : undefined],
      ['failureCount', failureCount ? String(failureCount) : undefined],
    ]),
  );
}

/** @throws Error if `text` is not JSON as {@link probesJson} makes it; the error may quote `text`. */
export function parseProbes(text: string): Readonly<Record<string, ProbeStatus>> {
  return probes.parse(JSON.parse(text));
}

export function failureJson({ instruction, exitCode, stderrEnd }: FailedInstruction): string {
  return JSON.stringify({ instruction, exitCode, stderr: stderrEnd });
}

/** Returns undefined for an empty text, or one that is not JSON as {@link failureJson} makes it. */
export function parseFailure(text: string): FailedInstruction | undefined {
  // Most Secrets have no failure, and an exception costs more than the rest of a status.
  if (text === '') return undefined;
  try {
    const { instruction, exitCode, stderr } = failedInstruction.parse(JSON.parse(text));
    return { instruction, exitCode, stderrEnd: stderr.slice(-MAX_STDERR) };
  } catch {
    return undefined;
  }
}

function base64Json(saved: Buffer | null): string {
  return saved === null || saved.length === 0 ? 'null' : `"${saved.toString('base64')}"`;
}

/** A Go map may have any text as a key; zod's record would skip `__proto__`. */
function mapOf<T>(value: z.ZodMiniType<T>) {
  const map = z.custom<object | null>((json) => typeof json === 'object' && !Array.isArray(json));
  const members = z.transform((json: object | null): Readonly<Record<string, T>> => {
    const written = Object.entries(json ?? {});
    return Object.fromEntries(written.map(([key, member]) => [key, value.parse(member)]));
  });
  return z.pipe(map, members);
}

const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;

/** Sets the extra flags and the system in the header as Go's gzip does. */
export function gzipText(text: string): Buffer {
  const packed = gzipSync(text);
  packed[8] = 0;
  packed[9] = 0xff;
  return packed;
}

/** Returns an empty text for zero bytes. @throws Error for invalid bytes, or more than 16 MiB of text. */
export function gunzipText(packed: Buffer): string {
  if (packed.length === 0) return '';
  return gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).toString('utf8');
}
