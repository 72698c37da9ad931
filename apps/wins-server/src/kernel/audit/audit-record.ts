import { NumberedFiles } from '@wins/files';
import { escapeJson } from '@wins/base';
import { hash } from 'node:crypto';
import { FeatureError } from '../feature-error.js';

/** The longest line of a log, in bytes, its end not counted. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Value of `prev` in the very first record. */
export const NO_LINE = '0'.repeat(64);

/** For the number and the chain in front of the facts. */
const LINK_BYTES = 256;
const SHORT_TEXT = 256;
const SHORT_LIST = 16;
/** How deep the facts of a cut record are nested; what lies deeper is null. */
const MAX_DEPTH = 8;
const RESERVED = ['seq', 'prev', 'time'] as const;

/** Content of a future record: its kind, and facts that JSON can hold, without `seq`, `prev` and `time`. */
export interface AuditFacts {
  readonly kind: string;
  readonly [fact: string]: unknown;
}

/** One line of a log. */
export interface AuditRecord extends AuditFacts {
  /** From 1, over restarts and files. */
  readonly seq: number;
  /** SHA-256 of the bytes of the line before, without its end; hexadecimal. */
  readonly prev: string;
  /** When it was decided, ISO 8601. */
  readonly time: string;
}

/** The files of the log in a folder: `audit.00000001.jsonl` and so on. */
export function auditFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'audit', suffix: 'jsonl', digits: 8 });
}

/** Where a log stands: the last number, and what the next line names as the one before. */
export interface ChainEnd {
  readonly seq: number;
  readonly prev: string;
}

/**
 * The time and the facts as text, which {@link encodeLine} completes. Facts that are too long for a line are cut: texts at
 * 256 characters, lists at 16 entries, and `cut` says so.
 *
 * @throws FeatureError `auditUnavailable` for a reserved name, and for facts that stay too long.
 */
export function encodeFacts(facts: AuditFacts, time: Date): string {
  const taken = RESERVED.find((name) => name in facts);
  if (taken !== undefined) {
    throw new FeatureError(
      'auditUnavailable',
      `cannot record a fact named ${taken}: the name is reserved`,
    );
  }
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

/** A line without its end, from what {@link encodeFacts} gave. */
export function encodeLine(seq: number, prev: string, facts: string): string {
  return `{"seq":${seq},"prev":"${prev}",${facts.slice(1)}`;
}

/** The digest that the next line names. */
export function hashOf(line: string | Buffer): string {
  return hash('sha256', line, 'hex');
}

/** The record of a line; undefined when the line is none. */
export function decodeLine(line: string): AuditRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { seq, prev, time, kind } = value as Partial<AuditRecord>;
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
  if (Array.isArray(value)) {
    return value.slice(0, SHORT_LIST).map((entry) => shorten(entry, depth + 1));
  }
  const entries = Object.entries(value).map(([key, entry]) => [key, shorten(entry, depth + 1)]);
  return Object.fromEntries(entries) as unknown;
}
