import { DEFAULT_PIPE_NAME, DEFAULT_PROXY_PIPE_NAME } from '@wins/base';
import * as z from 'zod/mini';
import { keptPrograms } from './keep-schema.js';
import * as sections from './sections.js';
import { signatureKeys } from './signature-keys.js';
import {
  count,
  flag,
  list,
  off,
  optional,
  routeNetwork,
  section,
  shown,
  someText,
  variables,
  withDefault,
} from './value-schemas.js';
import { whiteListSection } from './white-list-schema.js';

/**
 * Schema of the file: keys in canonical spelling, types, limits, defaults. Only the default of `upgrade.watchingPath` is missing,
 * because it depends on the platform.
 */
export const FILE_SCHEMA = section({
  debug: withDefault(flag(), false, 'Log at debug level.', { since: '0.1.3' }),
  listen: withDefault(shown(someText('a pipe name')), DEFAULT_PIPE_NAME, 'Name of the gRPC pipe.', {
    since: '0.0.1',
  }),
  proxy: withDefault(
    shown(someText('a pipe name')),
    DEFAULT_PROXY_PIPE_NAME,
    'Name of the tunnel pipe.',
    { since: '0.1.0' },
  ),
  pipeAccess: optional(
    shown(someText('a security descriptor in SDDL')),
    'Accounts that may open the pipes on Windows, as SDDL. By default administrators and SYSTEM.',
    { absent: 'administrators and SYSTEM' },
  ),
  processEnvironment: withDefault(
    variables(),
    {},
    'Environment variables for every run, in addition to the minimal set that runs get anyway.',
    { asWritten: 'text', isSecret: true, shown: 'names' },
  ),
  white_list: whiteListSection(),
  keep: keptPrograms(),
  tunnel: withDefault(
    section({
      maxSessions: withDefault(
        count('a number of sessions', 1024),
        16,
        'Maximum number of tunnel sessions at a time.',
      ),
      maxStreams: withDefault(
        count('a number of streams', 16_384),
        1024,
        'Maximum number of TCP streams of one session at a time.',
      ),
      handshakeTimeoutMs: withDefault(
        count('milliseconds', 600_000),
        5000,
        'Time-out of the handshake on the tunnel pipe, in milliseconds.',
      ),
    }),
    {},
    'Limits for clients of the tunnel pipe.',
    { typeName: 'TunnelLimits' },
  ),
  routes: withDefault(
    section({
      allow: withDefault(
        shown(list(routeNetwork(), 'networks')),
        [],
        'Networks for which containers may add and remove routes on the host. Empty: none. Cloud metadata, such as 169.254.169.254, needs its own entry.',
      ),
    }),
    {},
    'Changes that containers may make in the routing table of the host.',
  ),
  hostNetwork: sections.hostNetworkSection(),
  reflection: off('List the services of the gRPC pipe for generic clients.'),
  debugPipe: withDefault(
    flag(),
    true,
    'Answer "wins srv debug" on the pipe of administrators. If false, that pipe still exists.',
  ),
  audit: withDefault(
    section({
      directory: optional(
        shown(someText('a folder')),
        'Parent folder of the audit logs. Each daemon uses a subfolder named after its pipe.',
        { absent: 'a folder of the system', onSystemDrive: true },
      ),
      maxFileBytes: withDefault(
        count('bytes', 2 ** 30, 2 ** 16),
        2 ** 23,
        'Maximum size of a file of the audit log, in bytes. Beyond it a new file begins.',
      ),
      maxFiles: withDefault(
        count('a number of files', 1024, 2),
        16,
        'Maximum number of files of the audit log. Beyond it the oldest is removed.',
      ),
    }),
    {},
    'The log of allowed and refused requests.',
  ),
  metrics: sections.metricsSection(),
  upgrade: withDefault(
    section({
      mode: withDefault(
        z
          .enum(['none', 'watching', ''], { error: 'none or watching' })
          // The Go releases wrote an empty mode for the default.
          .check(z.overwrite((mode) => (mode === '' ? 'none' : mode))),
        'none',
        'Whether the daemon is upgraded to the watched file.',
        { since: '0.0.1' },
      ),
      watchingPath: optional(
        shown(someText('a path')),
        'The watched file. By default c:/etc/rancher/wins/wins.exe, elsewhere /etc/rancher/wins/wins.',
        { since: '0.0.1', onSystemDrive: true },
      ),
      ...signatureKeys(),
    }),
    {},
    'Self-upgrade from a watched file, and the accepted signers of any upgrade.',
    { since: '0.0.1', strictKeys: true },
  ),
  systemagent: sections.systemAgentSection(),
  'csi-proxy': sections.csiProxySection(),
  'tls-config': sections.tlsSection(),
  agentStrictTLSMode: sections.agentStrictTlsMode(),
});

export type FileContent = z.output<typeof FILE_SCHEMA>;
