import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** `t`: seconds since the recording began. */
export interface RecordedAction {
  readonly t: number;
  readonly action: string;
  readonly patch?: { readonly dataText?: Record<string, string>; readonly metadata?: object };
  readonly content?: string;
}

/** A version of the Secret: the values that changed, with gzip unpacked. */
export interface RecordedVersion {
  readonly t: number;
  readonly by: string;
  readonly type?: 'DELETED';
  readonly set: Readonly<Record<string, string | { readonly gzipJson: unknown }>>;
}

export interface RecordedFile {
  readonly path: string;
  readonly exists?: false;
  readonly type?: 'file' | 'dir';
  readonly mode?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly content?: string | { readonly base64: string };
}

export interface Recording {
  readonly description: string;
  readonly config: {
    readonly remoteEnabled: boolean;
    readonly localEnabled: boolean;
    readonly preserveWorkDirectory: boolean;
  };
  readonly actions: readonly RecordedAction[];
  readonly secretBefore: Readonly<Record<string, string>> | null;
  readonly secretVersions: readonly RecordedVersion[];
  readonly filesAtEnd: readonly RecordedFile[];
}

/**
 * Adapts all texts of a recording: `/node` becomes `folder`, an address on 127.0.0.1 becomes `url`, and the plans' checksums
 * change accordingly.
 */
export function readRecording(name: string, folder: string, url: string): Recording {
  const file = path.join(__dirname, 'recordings', `${name}.json`);
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  const moved = (text: string): string =>
    text.replace(/\/node(?![\w-])/g, folder).replace(/http:\/\/127\.0\.0\.1:\d{4,5}(?=\/)/g, url);
  const checksums = new Map<string, string>();
  for (const plan of plansOf(recorded)) checksums.set(sha256(plan), sha256(moved(plan)));
  const mapped = (text: string): string =>
    moved(text).replace(/[0-9a-f]{64}/g, (checksum) => checksums.get(checksum) ?? checksum);
  return mapTexts(recorded, mapped) as Recording;
}

function plansOf({ secretBefore, actions }: Recording): string[] {
  const texts = actions.flatMap(({ patch, content }) => [patch?.dataText?.['plan'], content]);
  return [secretBefore?.['plan'], ...texts].filter((text) => text !== undefined);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, mapTexts(member, map)]),
  );
}
