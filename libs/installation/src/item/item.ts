import * as z from 'zod';

const text = z.string().max(32_767);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const presence = z.literal('present');
const at = <K extends string, S extends z.ZodRawShape>(kind: K, names: S) =>
  z.strictObject({ kind: z.literal(kind), ...names });
/**
 * Access to a file or folder: `private` (administrators and this account), `readable` (all may read it), `executable` (all may
 * read and run it), or what the host found instead, in its own words: SDDL on Windows, mode and owner elsewhere.
 */
const access = text;

/**
 * The kinds of things of a node that an installation makes: how one is named, and in which state it can be when it is there. As a
 * file of ours may have them.
 */
export const KINDS = {
  /** `isData`: all that is in it is ours too, and goes with it. */
  folder: [
    at('folder', { path: text, isData: z.literal(true).exactOptional() }),
    z.strictObject({ access }),
  ],
  file: [at('file', { path: text }), z.strictObject({ sha256: digest, access })],
  /** The program that a service runs: a file that is replaced by the upgrade of the service. */
  program: [at('program', { path: text }), z.strictObject({ sha256: digest })],
  /** An element of the PATH of the machine. */
  pathElement: [at('pathElement', { path: text }), presence],
  /** A certificate of the machine's root store, by the SHA-256 of its DER form. */
  certificate: [at('certificate', { sha256: digest }), presence],
  winHttpProxy: [at('winHttpProxy', {}), z.strictObject({ proxy: text, bypass: text })],
  eventSource: [at('eventSource', { name: text }), presence],
  /** The command line is as the service manager keeps it. */
  service: [
    at('service', { name: text }),
    z.strictObject({
      command: text,
      startType: z.enum(['automatic', 'delayed', 'manual', 'disabled']),
    }),
  ],
  /** A variable of the environment of one service, by the SHA-256 of its value, which may be secret. */
  variable: [at('variable', { service: text, name: text }), z.strictObject({ sha256: digest })],
  /** That a service is started only after another. */
  dependency: [at('dependency', { service: text, on: text }), presence],
  /** That a service runs. */
  running: [at('running', { service: text }), presence],
} as const;

/** The name of a kind of {@link Item}. */
export type ItemKind = keyof typeof KINDS;

/** One thing of a node. */
export type Item<K extends ItemKind = ItemKind> = {
  [Kind in K]: Readonly<z.infer<(typeof KINDS)[Kind][0]>>;
}[K];

/** The state of a thing that is there; one that is absent has none. */
export type StateOf<K extends ItemKind = ItemKind> = {
  [Kind in K]: Readonly<z.infer<(typeof KINDS)[Kind][1]>>;
}[K];

/** The name of an item for comparison: the same for the same thing. The letter case of paths of Windows has no part in it. */
export function itemId(item: Item): string {
  const name = itemName(item);
  return 'path' in item && /^[A-Za-z]:\\/.test(item.path) ? name.toLowerCase() : name;
}

/** The name of an item for people, on one line. */
export function itemName(item: Item): string {
  const { kind, path, sha256, service, name, on } = item as Partial<Record<string, string>>;
  return [kind, path, sha256, service, name, on].filter((word) => word !== undefined).join(' ');
}
