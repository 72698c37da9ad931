import { FeatureError } from '../../kernel/feature-error.js';

/**
 * Allow-list of the sections of Node's report; the environment, command line, network and modules of the host are not.
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

/**
 * Node's report about this process, without what may hold a secret. It stops the event loop for some milliseconds, on Windows for some
 * tens: names of the network are not looked up.
 *
 * @throws FeatureError `unavailable`.
 */
export function processReport(): Section {
  const { report } = process as { readonly report?: NodeJS.ProcessReport };
  if (report === undefined) {
    throw new FeatureError('unavailable', 'cannot take a report: this Node does not support it');
  }
  // Otherwise each address of a socket is looked up by name, one after the other, while everything waits.
  const settings = report as { excludeNetwork?: boolean };
  const before = settings.excludeNetwork;
  settings.excludeNetwork = true;
  try {
    return withoutSecrets(report.getReport() as Section);
  } finally {
    if (before !== undefined) settings.excludeNetwork = before;
  }
}

/** Keeps what is on the list. Pure. */
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
