/**
 * Allow-list of sections in Node's report. Excluded: environment, command line, network, and modules of the host.
 * https://nodejs.org/api/report.html
 */
const SECTIONS = [
  'javascriptStack',
  'javascriptHeap',
  'nativeStack',
  'resourceUsage',
  'uvthreadResourceUsage',
  'userLimits',
];
const HEADER = [
  'reportVersion',
  'dumpEventTime',
  'processId',
  'nodejsVersion',
  'wordSize',
  'arch',
  'platform',
  'componentVersions',
  'osName',
  'osRelease',
  'osVersion',
  'osMachine',
];
/** Allow-list of fields in a libuv handle. Excluded: the names of pipes, files and sockets. */
const HANDLE = [
  'type',
  'is_active',
  'is_referenced',
  'fd',
  'writeQueueSize',
  'writable',
  'readable',
  'repeat',
  'firesInMsFromNow',
  'expired',
  'pid',
  'signum',
];

type Section = Readonly<Record<string, unknown>>;

/** Blocks the event loop for up to some tens of milliseconds. */
export function processReport(): Section {
  // By default, Node resolves the name of each socket address while the event loop is blocked.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    return withoutSecrets(report.getReport() as Section);
  } finally {
    report.excludeNetwork = before;
  }
}

export function withoutSecrets(report: Section): Section {
  const { header, libuv } = report as { readonly header: Section; readonly libuv: Section[] };
  return {
    header: pick(header, HEADER),
    ...pick(report, SECTIONS),
    libuv: libuv.map((each) => pick(each, HANDLE)),
  };
}

function pick(from: Section, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => name in from).map((name) => [name, from[name]] as const),
  );
}
