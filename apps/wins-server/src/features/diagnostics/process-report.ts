import { FeatureError } from '../../kernel/feature-error.js';

/**
 * Allow-list of sections in Node's report. Excluded: environment, command line, network, and modules of the host.
 * https://nodejs.org/api/report.html
 */
const SECTIONS = [
  ...['javascriptStack', 'javascriptHeap', 'nativeStack', 'resourceUsage'],
  ...['uvthreadResourceUsage', 'libuv', 'userLimits'],
];
const HEADER = [
  ...['reportVersion', 'dumpEventTime', 'processId', 'nodejsVersion', 'wordSize', 'arch'],
  ...['platform', 'componentVersions', 'osName', 'osRelease', 'osVersion', 'osMachine'],
];
/** Fields of a libuv handle that are shown; the name of a pipe, file or socket is left out. */
const HANDLE = [
  ...['type', 'is_active', 'is_referenced', 'fd', 'writeQueueSize', 'writable', 'readable'],
  ...['repeat', 'firesInMsFromNow', 'expired', 'pid', 'signum'],
];

type Section = Readonly<Record<string, unknown>>;

/** Returns Node's report without possible secrets. Blocks the event loop for up to some tens of milliseconds. @throws FeatureError `unavailable`. */
export function processReport(): Section {
  const { report } = process as { readonly report?: NodeJS.ProcessReport };
  if (report === undefined)
    throw new FeatureError('unavailable', 'cannot take a report: this Node does not support it');
  // Without this setting Node looks up the name of each socket address, one after the other, while the event loop is blocked.
  const settings = report as { excludeNetwork?: boolean };
  const before = settings.excludeNetwork;
  settings.excludeNetwork = true;
  try {
    return withoutSecrets(report.getReport() as Section);
  } finally {
    if (before !== undefined) settings.excludeNetwork = before;
  }
}

/** Keeps only the sections and fields of the allow-list. Pure. */
export function withoutSecrets(report: Section): Section {
  const { header, libuv } = report;
  const sections = pick(report, SECTIONS);
  return {
    header: isSection(header) ? pick(header, HEADER) : {},
    ...sections,
    libuv: Array.isArray(libuv) ? libuv.filter(isSection).map((each) => pick(each, HANDLE)) : [],
  };
}

function pick(from: Section, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => name in from).map((name) => [name, from[name]] as const),
  );
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null;
}
