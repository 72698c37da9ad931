import * as z from 'zod/mini';
import path from 'node:path';

const text = z.string().check(z.maxLength(32_767));
const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const presence = z.literal('present');
const at = <K extends string, S extends z.core.$ZodShape>(kind: K, names: S) =>
  z.strictObject({ kind: z.literal(kind), ...names });
/**
 * `private`: for administrators and this account. `readable`, `executable`: by everyone. Any other text is in the operating
 * system's form: SDDL on Windows, mode and owner on POSIX.
 */
const access = text;

/** For each kind: the schema of an item, and that of its state. */
export const KINDS = {
  /** `isData`: removing the folder also removes its content. */
  folder: [
    at('folder', { path: text, isData: z.exactOptional(z.literal(true)) }),
    z.strictObject({ access }),
  ],
  file: [at('file', { path: text }), z.strictObject({ sha256: digest, access })],
  /** The program file that a service runs. */
  program: [at('program', { path: text }), z.strictObject({ sha256: digest })],
  pathElement: [at('pathElement', { path: text }), presence],
  /** In the machine's root store; `sha256` is that of the DER form. */
  certificate: [at('certificate', { sha256: digest }), presence],
  winHttpProxy: [at('winHttpProxy', {}), z.strictObject({ proxy: text, bypass: text })],
  eventSource: [at('eventSource', { name: text }), presence],
  service: [
    at('service', { name: text }),
    z.strictObject({
      command: text,
      startType: z.enum(['automatic', 'delayed', 'manual', 'disabled']),
    }),
  ],
  /** The state has only a digest, because the value may be secret. */
  variable: [at('variable', { service: text, name: text }), z.strictObject({ sha256: digest })],
  /** The service starts only after `on`. */
  dependency: [at('dependency', { service: text, on: text }), presence],
  running: [at('running', { service: text }), presence],
} as const;

/** Kinds of items: files, folders, registrations of the service, and settings of the machine. */
export type ItemKind = keyof typeof KINDS;

/** Names a part of a node that an installation owns. The state of a part is a {@link StateOf}. */
export type Item<K extends ItemKind = ItemKind> = {
  [Kind in K]: Readonly<z.infer<(typeof KINDS)[Kind][0]>>;
}[K];

/** State of an item of one kind. Contents and values that may be secret are present only as digests. */
export type StateOf<K extends ItemKind = ItemKind> = {
  [Kind in K]: Readonly<z.infer<(typeof KINDS)[Kind][1]>>;
}[K];

/** Equal ids mean the same item. Letter case does not matter in Windows paths. */
export function itemId(item: Item): string {
  const name = itemName(item);
  return 'path' in item && /^[A-Za-z]:\\/.test(item.path) ? name.toLowerCase() : name;
}

export function itemName(item: Item): string {
  const { kind, path, sha256, service, name, on } = item as Partial<Record<string, string>>;
  return [kind, path, sha256, service, name, on].filter((word) => word !== undefined).join(' ');
}

export function ancestorsOf(location: string, platform: NodeJS.Platform): readonly string[] {
  const folder = folderOf(location, platform);
  return folder === folderOf(folder, platform) ? [] : [...ancestorsOf(folder, platform), folder];
}

export function folderOf(location: string, platform: NodeJS.Platform): string {
  return (platform === 'win32' ? path.win32 : path.posix).dirname(location);
}

export function folderOfItem(item: Item, platform: NodeJS.Platform): string | undefined {
  const hasPath = item.kind === 'file' || item.kind === 'folder' || item.kind === 'program';
  return hasPath ? folderOf(item.path, platform) : undefined;
}
