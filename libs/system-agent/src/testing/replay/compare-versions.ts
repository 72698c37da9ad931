import { gunzipSync } from 'node:zlib';

import { KEY } from '../../decide/secret-state.js';
import type { PlayedVersion } from './scenario-player.js';
import type { RecordedVersion, Recording } from './recording.js';

/** Comparable: gzip is unpacked, and times and other random parts are replaced. */
export interface ComparedVersion {
  /** Seconds since the start. */
  readonly t: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns each version of the Secret that the Go agent wrote, with its complete data. The recording contains only the changed values. */
export function recordedVersions(
  { secretBefore }: Recording,
  versions: readonly RecordedVersion[],
): ComparedVersion[] {
  let data: Record<string, unknown> = { ...secretBefore };
  const compared: ComparedVersion[] = [];
  for (const { t, by, type, set } of versions) {
    if (type === 'DELETED') continue;
    data = { ...data, ...set };
    if (by === 'agent') compared.push(comparable(t, data));
  }
  return compared;
}

/** Omits the key that the Go agent does not know. */
export function playedVersions(written: readonly PlayedVersion[]): ComparedVersion[] {
  return written.map(({ t, data: { [KEY.failedInstruction]: _ours, ...data } }) =>
    comparable(
      t,
      mapValues(data, (value: Buffer) => shown(value)),
    ),
  );
}

function comparable(t: number, data: Readonly<Record<string, unknown>>): ComparedVersion {
  const text = JSON.stringify(data)
    .replace(/[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [A-Z]+ \d{4}/g, 'TIME')
    .replace(/\b1[789]\d{8}\b/g, 'SECONDS')
    .replace(/\b\d{8}-\d{6}\b/g, 'DATECODE');
  return { t, data: JSON.parse(text) as Record<string, unknown> };
}

function shown(value: Buffer): unknown {
  if (value[0] !== 0x1f || value[1] !== 0x8b) return value.toString('utf8');
  const saved = JSON.parse(gunzipSync(value).toString('utf8')) as Record<string, unknown>;
  return { gzipJson: mapValues(saved, shownOutput) };
}

/** A one-time instruction saves base64 text; a periodic one saves an object with base64 `stdout` and `stderr`. */
function shownOutput(saved: unknown): unknown {
  if (typeof saved !== 'object' || saved === null) return textOf(saved);
  return mapValues(saved as Record<string, unknown>, (value, key) =>
    key === 'stdout' || key === 'stderr' ? textOf(value) : value,
  );
}

/** Like the recorder, shows bytes that are not UTF-8 as `\xff`. */
function textOf(base64: unknown): unknown {
  if (typeof base64 !== 'string') return base64;
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

function mapValues<T>(
  values: Readonly<Record<string, T>>,
  map: (value: T, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}
