import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PROCESSOR, resourceTable, type ResourceName } from './resources.js';

const root = path.resolve(__dirname, '../../../../..');
const SOURCES = [
  'apps/wins-server/src/kernel',
  'apps/wins-server/src/features',
  'apps/wins-cli/src',
  ...[
    'http2-connection',
    'process-manager',
    'tcp-tunnel',
    'pipe-transport',
    'wins-api',
    'config',
    'files',
    'net',
    'service-upgrade',
    'system-agent',
    'time',
    'trusted-files',
    'linux-host',
    'windows-host',
    'base',
  ].map((library) => `libs/${library}/src`),
];
/** Matches declarations of constants that set a limit. */
const LIMIT = /\bconst ((?:MAX|MOST)_\w+|\w*LIMITS?)\b/g;
/** Matches names of limits that apply to one text, message, file or period. */
const OF_ONE_THING = /_(BYTES|OCTETS|LENGTH|CHARACTERS|TEXT|MS)$/;
/** Names of constants whose limits are not shared among clients. Each key gives the reason. */
const NO_SHARES: Readonly<Record<string, readonly string[]>> = {
  'what one connection, request, stream or record may hold, by its protocol': [
    'DEFAULT_LIMITS',
    'PROTOCOL_LIMITS',
    'DEFAULT_FLOW_LIMITS',
    'START_LIMITS',
    'LIMITS',
    'MOST_HEADERS',
    'MOST_RESIZES',
    'MOST_SETTINGS',
    'MOST_FRAGMENTS',
    'TOP_BYTE_LIMIT',
    'MAX_AUDITED_PATH',
    'MAX_AUDITED_NAMES',
    'MAX_AUDITED_NAME',
    'MAX_FACTS',
    'MOST_PINNED',
    'MAX_DEPTH',
    'MAX_REQUEST_FIELDS',
    'MAX_REASON',
    'MAX_FACT',
    'MAX_ARGUMENTS',
    'MOST_PORT',
    'WINDOWS_ADDRESS_LIMIT',
    'MAX_ENTRIES',
    'MAX_ROUTE_DESTINATIONS',
    'MAX_RANGES',
    'MOST_PENDING_PONGS',
  ],
  'of what the operator, a plan or the server of plans gives, which clients cannot cause': [
    'MAX_VALUES',
    'MOST_KEPT',
    'MAX_ALIASES',
    'MAX_YAML_TOKENS',
    'MAX_WARNINGS',
    'MAX_LINKS',
    'DEFAULT_IMAGE_LIMITS',
    'MAX_URLS',
    'MAX_KEPT',
    'MAX_TRUSTS',
    'MAX_REDIRECTS',
    'MAX_NAME',
    'MAX_STDERR',
    'MAX_OUTPUT_FILES',
    'MAX_APPLIED_PLANS',
    'MAX_BURST',
    'MAX_TOPICS',
    'MAX_SHOWN',
    'MAX_COOL_DOWNS',
    'MAX_ROUTES',
    'MAX_CERTIFICATES',
    'MAX_PAGES',
    'MAX_CLUSTER',
    'MAX_NETWORKS',
    'MAX_RELAYS',
    'MAX_CHAIN',
    'MAX_SERVERS',
    'MAX_SETS',
    'MAX_OPERATIONS',
    'MAX_SIGNATURES',
    'MAX_TOKENS',
  ],
  'of what the system says, for one question': [
    'MOST_COMMON',
    'MAX_STRANGERS',
    'MAX_ITEMS',
    'MAX_HOLDERS',
    'MAX_PROCESSES',
    'MAX_WINDOWS',
    'MAX_FILTERS',
    'MOST_ADDRESSES',
  ],
  'of one run, in its share of spools': ['MAX_FILES'],
  'of tries of one action': ['MAX_TRIES', 'MAX_ATTEMPTS'],
  'of the client program itself': ['MOST_TRIALS', 'MOST_STREAMS'],
  'beyond it, things are counted together': [
    'MOST_KEYS',
    'MAX_KEYS',
    'MOST_SHARES',
    'MOST_BUCKETS',
    'MOST_CLIENTS',
    'MOST_KINDS',
  ],
  'for administrators alone': [
    'MOST_STACKS',
    'MOST_FRAMES',
    'MOST_FILES',
    'MOST_ROWS',
    'MOST_PORTS',
    'MOST_PROBLEMS',
    'MAX_PROBLEMS',
    'MOST_PROBED',
    'MOST_OF_SOURCE',
  ],
  'of the daemon itself; what clients have of it is served in turns': [
    'MAX_STAGINGS',
    'MAX_ROUNDS',
    'MOST_WAITING',
    'MAX_WAITING',
    'MOST_OWED_QUANTA',
    'MAX_SPARE',
    'MOST_TASK_OCTETS_OF_ALL',
  ],
  'on a port of the host, where clients cannot be told apart': ['MOST_CONNECTIONS'],
};

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'testing' ? [] : sourcesBelow(file);
    return file.endsWith('.ts') && !file.endsWith('spec.ts') ? [file] : [];
  });
}

describe('the table of resources', () => {
  it('is the only place with limits that clients share', () => {
    const known = new Set(Object.values(NO_SHARES).flat());
    const found = SOURCES.flatMap((folder) => sourcesBelow(path.join(root, folder))).flatMap(
      (file) =>
        Array.from(readFileSync(file, 'utf8').matchAll(LIMIT), ([, name = '']) => name)
          .filter((name) => !OF_ONE_THING.test(name))
          .map((name) => ({ name, file: path.relative(root, file) })),
    );
    expect(found.filter(({ name }) => !known.has(name))).toEqual([]);
    const names = new Set(found.map(({ name }) => name));
    expect([...known].filter((name) => !names.has(name))).toEqual([]);
  });

  it.each([256, 512, 1024, 4096, 65_536, 1_048_576])(
    'leaves a quarter of %d descriptors to the daemon and its administrators',
    (descriptors) => {
      const table = resourceTable(descriptors);
      const of = (name: ResourceName): number => table[name].total;
      const connections = of('connections') + of('handshakes') + of('tunnelHandshakes');
      const administrators = of('adminConnections') + of('adminHandshakes');
      // A run uses four descriptors: two pipes, and temporarily a file and a process.
      const relayed = 2 * of('relayed') + of('relayedFlows');
      const used =
        connections + administrators + of('tunnels') + of('streams') + 4 * of('runs') + relayed;
      expect(used - administrators - of('tunnels')).toBeLessThanOrEqual(0.75 * descriptors);
      expect(used).toBeLessThanOrEqual(descriptors - 24);
    },
  );

  it('has something of each resource for a client beside one that takes all it can', () => {
    for (const descriptors of [256, 65_536]) {
      for (const row of Object.values(resourceTable(descriptors))) {
        expect([row.what, row.total > row.reserve + row.total / 2]).toEqual([row.what, true]);
        expect(row.floor).toBeLessThanOrEqual(row.total / 2);
      }
    }
  });

  it('has turns that are short beside what people notice', () => {
    expect(PROCESSOR.quantumMs * 8).toBeLessThan(20);
  });
});
