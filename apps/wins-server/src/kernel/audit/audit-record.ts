import { NumberedFiles } from '@wins/files';
import { escapeJson } from '@wins/base';
import { hash } from 'node:crypto';
import { jsonObject } from '../json-object.js';
import { FeatureError } from '../feature-error.js';

/** Excludes the line end. */
export const MAX_LINE_BYTES = 64 * 1024;
/** `prev` of the very first record. */
export const NO_LINE = '0'.repeat(64);

/** Bytes reserved for `seq` and `prev`, which precede the facts. */
const LINK_BYTES = 256;
const SHORT_TEXT = 256;
const SHORT_LIST = 16;
/** In shortened records, objects and lists at this depth become null. */
const MAX_DEPTH = 8;
const RESERVED = ['seq', 'prev', 'time'] as const;

/** Facts are JSON, and never named `seq`, `prev` or `time`. */
export interface AuditFacts {
  readonly kind: string;
  readonly [fact: string]: unknown;
}

export interface AuditRecord extends AuditFacts {
  /** From 1, continued across restarts and files. */
  readonly seq: number;
  /** SHA-256 of the previous line without its line end, in hexadecimal. */
  readonly prev: string;
  /** Time of the decision, ISO 8601. */
  readonly time: string;
}

/** Files are named `audit.00000001.jsonl` and so on. */
export function auditFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'audit', suffix: 'jsonl', digits: 8 });
}

export interface ChainEnd {
  readonly seq: number;
  readonly prev: string;
}

/**
 * If facts are too long for a line, shortens texts to 256 characters and lists to 16 entries, and adds `cut`.
 * @throws FeatureError `auditUnavailable` for a reserved name, and for facts that are still too long.
 */
export function encodeFacts(facts: AuditFacts, time: Date): string {
  const taken = RESERVED.find((name) => name in facts);
  if (taken !== undefined)
    throw new FeatureError(
      'auditUnavailable',
      `cannot record a fact named ${taken}: the name is reserved`,
    );
  const { kind, ...rest } = facts;
  const encode = (fields: object): string =>
    escapeJson(JSON.stringify({ time: time.toISOString(), kind, ...fields }));
  const fits = (text: string): boolean => Buffer.byteLength(text) <= MAX_LINE_BYTES - LINK_BYTES;
  const whole = encode(rest);
  if (fits(whole)) return whole;
  const short = encode({ ...(shorten(rest, 0) as object), cut: true });
  if (fits(short)) return short;
  const found = `${Buffer.byteLength(short)} bytes of facts`;
  throw new FeatureError(
    'auditUnavailable',
    `cannot record ${found}; wanted ${MAX_LINE_BYTES - LINK_BYTES} at most`,
  );
}

export function encodeLine(seq: number, prev: string, facts: string): string {
  return `{"seq":${seq},"prev":"${prev}",${facts.slice(1)}`;
}

export function hashOf(line: string | Buffer): string {
  return hash('sha256', line, 'hex');
}

export function decodeLine(line: string): AuditRecord | undefined {
  const value: Partial<AuditRecord> | undefined = jsonObject(line);
  const { seq, prev, time, kind } = value ?? {};
  const isRecord =
    Number.isSafeInteger(seq) &&
    typeof prev === 'string' &&
    typeof time === 'string' &&
    typeof kind === 'string';
  return isRecord ? (value as AuditRecord) : undefined;
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, SHORT_TEXT);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value))
    return value.slice(0, SHORT_LIST).map((entry) => shorten(entry, depth + 1));
  const entries = Object.entries(value).map(([key, entry]) => [key, shorten(entry, depth + 1)]);
  return Object.fromEntries(entries) as unknown;
}
