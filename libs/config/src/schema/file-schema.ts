import { DEFAULT_PIPE_NAME, DEFAULT_PROXY_PIPE_NAME } from '@wins/base';
import * as z from 'zod';
import { keptPrograms } from './keep-schema.js';
import { about } from './notation.js';
import * as sections from './sections.js';
import { signatureKeys } from './signature-keys.js';
import {
  count,
  flag,
  list,
  off,
  routeNetwork,
  section,
  shown,
  someText,
  variables,
} from './value-schemas.js';
import { whiteListSection } from './white-list-schema.js';

/**
 * Schema of the file: keys in canonical spelling, types, limits, defaults. Only the default of `upgrade.watchingPath` is missing,
 * because it depends on the platform.
 */
export const FILE_SCHEMA = section({
  debug: about(flag(), 'Log at debug level.', { since: '0.1.3' }).default(false),
  listen: about(shown(someText('a pipe name')), 'Name of the gRPC pipe.', {
    since: '0.0.1',
  }).default(DEFAULT_PIPE_NAME),
  proxy: about(shown(someText('a pipe name')), 'Name of the tunnel pipe.', {
    since: '0.1.0',
  }).default(DEFAULT_PROXY_PIPE_NAME),
  pipeAccess: about(
    shown(someText('a security descriptor in SDDL')),
    'Accounts that may open the pipes on Windows, as SDDL. By default administrators and SYSTEM.',
    { absent: 'administrators and SYSTEM' },
  ).exactOptional(),
  processEnvironment: about(
    variables(),
    'Environment variables for every run, in addition to the minimal set that runs get anyway.',
    { asWritten: 'text', isSecret: true, shown: 'names' },
  ).default({}),
  white_list: whiteListSection(),
  keep: keptPrograms(),
  tunnel: about(
    section({
      maxSessions: about(
        count('a number of sessions', 1024),
        'Maximum number of tunnel sessions at a time.',
      ).default(16),
      maxStreams: about(
        count('a number of streams', 16_384),
        'Maximum number of TCP streams of one session at a time.',
      ).default(1024),
      handshakeTimeoutMs: about(
        count('milliseconds', 600_000),
        'Time-out of the handshake on the tunnel pipe, in milliseconds.',
      ).default(5000),
    }),
    'Limits for clients of the tunnel pipe.',
    { typeName: 'TunnelLimits' },
  ).prefault({}),
  routes: about(
    section({
      allow: about(
        shown(list(routeNetwork(), 'networks')),
        'Networks for which containers may add and remove routes on the host. Empty: none. Cloud metadata, such as 169.254.169.254, needs its own entry.',
      ).default([]),
    }),
    'Changes that containers may make in the routing table of the host.',
  ).prefault({}),
  hostNetwork: sections.hostNetworkSection(),
  reflection: off('List the services of the gRPC pipe for generic clients.'),
  debugPipe: about(
    flag(),
    'Answer "wins srv debug" on the pipe of administrators. If false, that pipe still exists.',
  ).default(true),
  audit: about(
    section({
      directory: about(
        shown(someText('a folder')),
        'Parent folder of the audit logs. Each daemon uses a subfolder named after its pipe.',
        { absent: 'a folder of the system', onSystemDrive: true },
      ).exactOptional(),
      maxFileBytes: about(
        count('bytes', 2 ** 30, 2 ** 16),
        'Maximum size of a file of the audit log, in bytes. Beyond it a new file begins.',
      ).default(2 ** 23),
      maxFiles: about(
        count('a number of files', 1024, 2),
        'Maximum number of files of the audit log. Beyond it the oldest is removed.',
      ).default(16),
    }),
    'The log of allowed and refused requests.',
  ).prefault({}),
  metrics: sections.metricsSection(),
  upgrade: about(
    section({
      mode: about(
        z
          .enum(['none', 'watching', ''], { error: 'none or watching' })
          // The Go releases wrote an empty mode for the default.
          .overwrite((mode) => (mode === '' ? 'none' : mode)),
        'Whether the daemon is upgraded to the watched file.',
        { since: '0.0.1' },
      ).default('none'),
      watchingPath: about(
        shown(someText('a path')),
        'The watched file. By default c:/etc/rancher/wins/wins.exe, elsewhere /etc/rancher/wins/wins.',
        { since: '0.0.1', onSystemDrive: true },
      ).exactOptional(),
      ...signatureKeys(),
    }),
    'Self-upgrade from a watched file, and the accepted signers of any upgrade.',
    { since: '0.0.1', strictKeys: true },
  ).prefault({}),
  systemagent: sections.systemAgentSection(),
  'csi-proxy': sections.csiProxySection(),
  'tls-config': sections.tlsSection(),
  agentStrictTLSMode: sections.agentStrictTlsMode(),
});

export type FileContent = z.output<typeof FILE_SCHEMA>;
