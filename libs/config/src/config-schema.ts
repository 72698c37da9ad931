import * as z from 'zod';

/**
 * How a part of the file may be written besides its full form; travels in the schema's metadata.
 *
 * `shorthand` on an object: a lone scalar stands for the object with only that key. On a list: `true`,
 * a lone scalar stands for a list of one. `strictKeys`: an unknown or empty key is always an error,
 * because leaving it out would widen what is allowed.
 */
export interface Notation {
  readonly shorthand?: string | true;
  readonly strictKeys?: boolean;
}

// Control characters (C0, DEL, C1), line separators and lone surrogates: no name or path has them.
const PRINTABLE = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u;
const PRINTABLE_NOT_BLANK = /^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u;
const VARIABLE_NAME = /^(?=.*\S)[^=\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+$/u;

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

function count(what: string, most: number) {
  const error = `${what}, a whole number from 1 to ${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error });
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
    envs: list(matching(VARIABLE_NAME, 'the name of an environment variable'), 'names')
      .meta({
        description: 'Names of otherwise refused environment variables that a client may set.',
        shorthand: true,
      } satisfies Notation & z.GlobalMeta)
      .optional(),
    mayBreakAway: flag()
      .describe(
        'Whether the program may leave processes behind on purpose on Windows, as an upgrade helper does.',
      )
      .optional(),
  }).meta({ shorthand: 'path', strictKeys: true } satisfies Notation & z.GlobalMeta);
}

/**
 * The file in its canonical spelling: keys, types, limits, defaults, and the wording of what is expected.
 *
 * One default is missing here: that of `upgrade.watchingPath` depends on the platform.
 */
export const FILE_SCHEMA = section({
  debug: flag().describe('Log at debug level.').default(false),
  listen: someText('a pipe name').describe('Name of the gRPC pipe.').default('rancher_wins'),
  proxy: someText('a pipe name').describe('Name of the tunnel pipe.').default('rancher_wins_proxy'),
  pipeAccess: someText('a security descriptor in SDDL')
    .describe('Who may open the pipes on Windows, as SDDL. By default administrators and SYSTEM.')
    .optional(),
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
    maxSessions: count('how many clients', 1024)
      .describe('Clients of the tunnel pipe at a time.')
      .default(16),
    maxStreams: count('how many streams', 16_384)
      .describe('TCP streams of one client at a time.')
      .default(1024),
    handshakeTimeoutMs: count('milliseconds', 600_000)
      .describe('How long a client of the tunnel pipe may take to begin.')
      .default(5000),
  })
    .describe('What clients of the tunnel pipe may use of the daemon.')
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
