import { DEFAULT_PIPE_NAME, DEFAULT_PROXY_PIPE_NAME } from '@wins/wins-program';
import * as z from 'zod';
import { isRouteNetwork } from './route-network.js';

/**
 * How a part of the file may be written besides its full form; travels in the schema's metadata.
 *
 * `shorthand` on an object: a lone scalar stands for the object with only that key. On a list: `true`,
 * a lone scalar stands for a list of one. `strictKeys`: an unknown or empty key is always an error,
 * because leaving it out would widen what is allowed. `asWritten`: names are of the operator's choice; every scalar is text, or what
 * it looks like.
 */
export interface Notation {
  readonly shorthand?: string | true;
  readonly strictKeys?: boolean;
  readonly asWritten?: 'text' | 'typed';
}

// Control characters (C0, DEL, C1), line separators and lone surrogates: no name or path has them.
const PRINTABLE = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u;
const PRINTABLE_NOT_BLANK = /^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u;
/** What the system knows of who connects; a beginning of a container's id is long enough to mean one. */
const CALLER =
  /^(?:administrators|user:(?:0|[1-9][0-9]{0,9})|account:S-1-[0-9]{1,15}(?:-[0-9]{1,10}){1,15}|container:(?:\*|[0-9a-f]{12,63}\*|[0-9a-f]{64}))$/;
const VARIABLE_NAME = /^(?=.*\S)[^=*\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+$/u;
const VARIABLE_PATTERN = /^(?=.*\S)[^=*\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+\*?$/u;
const VARIABLE_VALUE = /^[^\0\p{Cs}]{0,32767}$/u;

const flag = () => z.boolean({ error: 'true or false' });
const matching = (pattern: RegExp, expected: string) =>
  z.string({ error: expected }).regex(pattern, { error: expected });
const text = () => matching(PRINTABLE, 'text without control characters');
const someText = (what: string) =>
  matching(PRINTABLE_NOT_BLANK, `${what}, not blank and without control characters`);

function port() {
  const error = 'a port number from 1 to 65535';
  return z.int({ error }).min(1, { error }).max(65535, { error });
}

function count(what: string, most: number, least = 1) {
  const error = `${what}, a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

function routeNetwork() {
  const error =
    'a network such as 10.42.0.0/16, of /8 or smaller, no bit set below its prefix, and no part of it loopback, link-local, multicast or reserved';
  return z.string({ error }).refine(isRouteNetwork, { error });
}

function list<Item extends z.ZodType>(item: Item, what: string) {
  return z.array(item, { error: `a list of ${what}` });
}

function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: 'a section (key: value pairs)' });
}

function allowedPath() {
  const digest = matching(
    /^[0-9a-fA-F]{64}$/,
    'a SHA-256 digest of 64 hexadecimal digits',
  ).toLowerCase();
  return section({
    path: someText('a path').describe('The program, by its path on the host.'),
    sha256: list(digest, 'SHA-256 digests')
      .min(1, { error: 'at least one SHA-256 digest' })
      .meta({
        description:
          'Digests, one of which the content must have. Without this key it is not pinned.',
        shorthand: true,
      } satisfies Notation & z.GlobalMeta)
      .optional(),
    envs: list(
      matching(VARIABLE_PATTERN, 'the name of an environment variable, or a beginning and "*"'),
      'names',
    )
      .refine((names) => names.length === 1 || !names.includes('any'), {
        error: 'names, or "any" alone',
      })
      .meta({
        description:
          'Environment variables that a client may set: names, or beginnings such as KUBE_*; or any but guarded ones. By default none.',
        shorthand: true,
      } satisfies Notation & z.GlobalMeta)
      .optional(),
    args: argumentRules()
      .meta({
        description:
          'Arguments that a client may pass: none, any, or a list of argument lists. By default any.',
        asWritten: 'typed',
      } satisfies Notation & z.GlobalMeta)
      .optional(),
    directories: list(someText('a path'), 'paths')
      .meta({
        description:
          "Folders in which a client may have the program run, besides the program's own.",
        shorthand: true,
      } satisfies Notation & z.GlobalMeta)
      .optional(),
    for: list(
      matching(
        CALLER,
        'administrators, user:UID, account:SID, container:ID (or 12 digits of it and "*") or container:*',
      ),
      'callers',
    )
      .min(1, { error: 'at least one caller' })
      .meta({
        description:
          'Who may run it, as the system knows them: administrators, user:UID, account:SID, container:ID or container:*. By default everybody who may open the pipe.',
        shorthand: true,
      } satisfies Notation & z.GlobalMeta)
      .optional(),
    mayBreakAway: flag()
      .describe(
        'Whether the program may leave processes behind on purpose on Windows, as an upgrade helper does.',
      )
      .optional(),
    argv0: z
      .enum(['copy', 'listed'], { error: 'copy or listed' })
      .describe(
        'What the program gets as its own name: the path of the verified copy, by which process lists show it, or the listed path. By default copy.',
      )
      .optional(),
  }).meta({ shorthand: 'path', strictKeys: true } satisfies Notation & z.GlobalMeta);
}

/** Everything in it is checked here as to form; what its paths mean is judged elsewhere. */
function argumentRules() {
  // No transformation, for which the JSON Schema would lose the defaults around it.
  const word = z
    .union([z.string(), z.number(), z.boolean()], { error: 'a word' })
    .overwrite(String)
    .refine((text) => /^[^\0\p{Cs}]*$/u.test(String(text)), { error: 'a word without NUL' });
  const number = (name: string) => z.int({ error: `a whole number as "${name}"` });
  const wanted =
    'a word, {integer: {min, max}}, {port: true}, {pathUnder: FOLDER} or {oneOf: [WORDS]}';
  const form = z
    .strictObject(
      {
        integer: z
          .strictObject({ min: number('min'), max: number('max') }, { error: 'min and max' })
          .optional(),
        port: z.literal(true, { error: 'true' }).optional(),
        pathUnder: someText('a path').optional(),
        oneOf: z
          .array(word, { error: 'a list of words' })
          .min(1, { error: 'at least one word' })
          .optional(),
        after: word.describe('Text in front of it, such as --port=.').optional(),
      },
      { error: wanted },
    )
    .refine(({ after: _after, ...forms }) => Object.keys(forms).length === 1, { error: wanted });
  const pattern = z.union([word, form], { error: wanted });
  return z.union(
    [
      z.enum(['none', 'any']),
      z.array(z.array(pattern, { error: 'a list of arguments' }), {
        error: 'none, any, or a list of argument lists',
      }),
    ],
    { error: 'none, any, or a list of argument lists' },
  );
}

/**
 * The file in its canonical spelling: keys, types, limits, defaults, and the wording of what is expected.
 *
 * One default is missing here: that of `upgrade.watchingPath` depends on the platform.
 */
export const FILE_SCHEMA = section({
  debug: flag().describe('Log at debug level.').default(false),
  listen: someText('a pipe name').describe('Name of the gRPC pipe.').default(DEFAULT_PIPE_NAME),
  proxy: someText('a pipe name')
    .describe('Name of the tunnel pipe.')
    .default(DEFAULT_PROXY_PIPE_NAME),
  pipeAccess: someText('a security descriptor in SDDL')
    .describe('Who may open the pipes on Windows, as SDDL. By default administrators and SYSTEM.')
    .optional(),
  processEnvironment: z
    .record(
      matching(VARIABLE_NAME, 'the name of an environment variable'),
      matching(VARIABLE_VALUE, 'text of at most 32,767 characters, without NUL'),
      { error: 'a section (NAME: value pairs)' },
    )
    .meta({
      description: 'Environment variables of every run, besides the minimal ones.',
      asWritten: 'text',
    } satisfies Notation & z.GlobalMeta)
    .default({}),
  white_list: section({
    processPaths: list(allowedPath(), 'paths')
      .describe('Programs that containers may run. Empty: nothing may run.')
      .default([]),
    proxyPorts: list(port(), 'port numbers')
      .describe('Host TCP ports that containers may reach. Empty: none.')
      .default([]),
  })
    .describe('What containers may use of the host.')
    .prefault({}),
  tunnel: section({
    maxSessions: count('a number of clients', 1024)
      .describe('Clients of the tunnel pipe at a time.')
      .default(16),
    maxStreams: count('a number of streams', 16_384)
      .describe('TCP streams of one client at a time.')
      .default(1024),
    handshakeTimeoutMs: count('milliseconds', 600_000)
      .describe('How long a client of the tunnel pipe may take to begin.')
      .default(5000),
  })
    .describe('What clients of the tunnel pipe may use of the daemon.')
    .prefault({}),
  routes: section({
    allow: list(routeNetwork(), 'networks')
      .describe('Networks to which containers may add routes on the host. Empty: none.')
      .default([]),
  })
    .describe('What containers may change in the routing table of the host.')
    .prefault({}),
  reflection: flag()
    .describe('Tell generic clients of the gRPC pipe which services there are.')
    .default(false),
  audit: section({
    directory: someText('a folder')
      .describe('Where daemons keep their audit logs, each in a folder named after its pipe.')
      .optional(),
    maxFileBytes: count('bytes', 2 ** 30, 2 ** 16)
      .describe('The size at which a new file of the audit log begins.')
      .default(2 ** 23),
    maxFiles: count('a number of files', 1024, 2)
      .describe('The number of files of the audit log; the oldest is removed for a new one.')
      .default(16),
  })
    .describe('The record of what was allowed and refused.')
    .prefault({}),
  upgrade: section({
    mode: z
      .enum(['none', 'watching', ''], { error: 'none or watching' })
      // The original wrote an empty mode for the default.
      .overwrite((mode) => (mode === '' ? 'none' : mode))
      .describe('Whether the daemon is upgraded to the watched file.')
      .default('none'),
    watchingPath: someText('a path')
      .describe('The watched file; by default wins.exe (wins) beside the configuration.')
      .optional(),
  })
    .describe('Self-upgrade by a watched file.')
    .prefault({}),
  systemagent: section({
    localEnabled: flag().default(false),
    remoteEnabled: flag().default(false),
    preserveWorkDirectory: flag().default(false),
    workDirectory: text().optional(),
    localPlanDirectory: text().optional(),
    appliedPlanDirectory: text().optional(),
    connectionInfoFile: text().optional(),
    imagesDirectory: text().optional(),
    agentRegistriesFile: text().optional(),
    imageCredentialProviderConfig: text().optional(),
    imageCredentialProviderBinDirectory: text().optional(),
    interlockDirectory: text().optional(),
  })
    .describe('The embedded system-agent. Absent: off.')
    .optional(),
  'csi-proxy': section({
    url: someText('a download address').describe('Download address; %s is the version.'),
    version: someText('a version'),
    kubeletPath: someText('a path'),
  })
    .describe('The csi-proxy service to install. Absent: none.')
    .optional(),
  'tls-config': section({ insecure: flag().optional(), certFilePath: text().optional() })
    .describe('TLS of the csi-proxy download.')
    .optional(),
  agentStrictTLSMode: flag()
    .describe('The system-agent trusts only the CA it was given.')
    .default(false),
});

/** The checked content of a file, in canonical spelling with the defaults of the schema filled in. */
export type FileContent = z.output<typeof FILE_SCHEMA>;

/** The notation of a schema, empty when it has none. */
export function notationOf(schema: z.core.$ZodType): Notation {
  return (z.globalRegistry.get(schema) ?? {}) as Notation;
}

/** The schema itself, without the layers that make it optional or give it a default. */
export function bareSchema(schema: z.core.$ZodType): z.core.$ZodType {
  let bare = schema;
  while (
    bare instanceof z.ZodOptional ||
    bare instanceof z.ZodDefault ||
    bare instanceof z.ZodPrefault
  )
    bare = bare.unwrap();
  return bare;
}

/** The keys of a section and their schemas, in order; undefined when the schema is of something else. */
export function fieldsOf(
  schema: z.core.$ZodType,
): ReadonlyMap<string, z.core.$ZodType> | undefined {
  const bare = bareSchema(schema);
  if (!(bare instanceof z.ZodObject)) return undefined;
  return new Map(Object.entries(bare.shape));
}

/** The schema of a list's entries; undefined when the schema is of something else. */
export function entryOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const bare = bareSchema(schema);
  return bare instanceof z.ZodArray ? bare.element : undefined;
}
