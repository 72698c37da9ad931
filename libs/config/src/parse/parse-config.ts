import type * as z from 'zod/mini';
import type { ConfigProblem } from '../problems/config-problem.js';
import { FILE_SCHEMA, type FileContent } from '../schema/file-schema.js';
import { bareSchema, entryOf, fieldsOf, joinKey, notationOf } from '../schema/notation.js';
import { type FileValues, readFileValues, type ValueLocation } from './file-values.js';
import type { ProblemReport } from '../problems/problem-report.js';
import { settingsOf } from './settings-of.js';
import type { WinsConfig } from '../gen/wins-config.js';
import { inDoubleQuotes, readSource } from './yaml-source.js';

/** Options of {@link parseConfig}. */
export interface ParseOptions {
  /** File name in problems. Default `config`. */
  readonly fileName?: string | undefined;
  /** Whether unknown keys are errors instead of warnings. Default false. */
  readonly strict?: boolean | undefined;
  /** Platform whose defaults apply. Default: `process.platform`. */
  readonly platform?: NodeJS.Platform | undefined;
}

/** Says which line of the file, or which default, a value comes from. */
export interface ConfigOrigin {
  /** Canonical path of the key. A list with entries has one `ConfigOrigin` for each entry, such as `white_list.processPaths[0]`. */
  readonly key: string;
  /** Undefined when the key is not set and has no default. */
  readonly value: unknown;
  /** Line and column from 1, or `default`. */
  readonly origin: 'default' | { readonly line: number; readonly column: number };
}

/** A valid config, with the position of each value and the warnings about it. */
export interface ParsedConfig {
  /** Keys that the file omits have their defaults. */
  readonly config: WinsConfig;
  /** Every key, in the order of the documentation. */
  readonly origins: readonly ConfigOrigin[];
  /** In file order. Contains no errors. */
  readonly warnings: readonly ConfigProblem[];
}

/**
 * Parses a YAML or JSON file. Empty text gives the defaults. Limits: 1 MiB, 32 levels, 100,000 values, 1,000 problems.
 *
 * @throws ConfigError `tooLarge` or `invalid`. Problems of keys and values are reported only if the structure is sound.
 */
export function parseConfig(source: string | Uint8Array, options: ParseOptions = {}): ParsedConfig {
  const { fileName = 'config', strict = false, platform = process.platform } = options;
  const yaml = readSource(source, fileName);
  const { report } = yaml;
  const values = readFileValues(yaml, FILE_SCHEMA, strict);
  const checked = FILE_SCHEMA.safeParse(values.value);
  if (checked.success) reportSamePipe(checked.data, values, report);
  else reportIssues(checked.error.issues, values, report);
  report.throwIfBroken();
  // The fallback only satisfies the compiler. After a failed check, `throwIfBroken` has thrown.
  const content = checked.data ?? FILE_SCHEMA.parse({});

  warnAboutContent(content, values, report);
  const config: WinsConfig = settingsOf(content, platform);
  const { mode, watchingPath } = config.upgrade;
  const effective = { ...content, upgrade: { ...content.upgrade, mode, watchingPath } };
  return {
    config,
    origins: listOrigins(effective, FILE_SCHEMA, '', values.locations, report),
    warnings: report.sorted(),
  };
}

function reportIssues(
  issues: readonly z.core.$ZodIssue[],
  values: FileValues,
  report: ProblemReport,
): void {
  const told = new Set<string>();
  for (const issue of issues.map(nearestIssue)) {
    const keyPath = formatPath(issue.path);
    if (told.has(keyPath)) continue;
    told.add(keyPath);
    const location = values.locations.get(keyPath);
    if (location === undefined) {
      const { offset } = nearestLocation(issue.path, values.locations);
      report.error({ code: 'missing', keyPath, offset, found: 'nothing', expected: issue.message });
      continue;
    }
    const { misread, ...found } = location;
    const code = issue.code === 'invalid_type' ? 'wrongType' : 'wrongValue';
    const where =
      misread === undefined ? found : { offset: found.offset, ...inDoubleQuotes(misread) };
    report.error({ code, keyPath, expected: issue.message, ...where });
  }
}

/** For a union, returns the issue of the member that matches deepest. For an invalid key, uses the message about its name. */
function nearestIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code === 'invalid_key') {
    return { ...issue, message: issue.issues[0]?.message ?? issue.message };
  }
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .flatMap(([first]) => (first === undefined ? [] : [nearestIssue(first)]))
    .reduce<z.core.$ZodIssue | undefined>(
      (best, next) => (next.path.length > (best?.path.length ?? 0) ? next : best),
      undefined,
    );
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

/** Reports an error if `listen` and `proxy` name the same pipe. Their protocols differ, so they need two pipes. */
function reportSamePipe(
  { listen, proxy }: FileContent,
  { locations }: FileValues,
  report: ProblemReport,
): void {
  if (pipeNameOf(listen) !== pipeNameOf(proxy)) return;
  const offset = (locations.get('proxy') ?? locations.get('listen'))?.offset;
  const [found, expected] = ['the pipe that "listen" names', 'another pipe name'];
  report.error({ code: 'wrongValue', keyPath: 'proxy', offset, found, expected });
}

/** Ignores case, as Windows does. */
function pipeNameOf(written: string): string {
  return written.replace(/^(npipe:\/\/\/\/|\\\\)\.[\\/]pipe[\\/]/i, '').toLowerCase();
}

function nearestLocation(
  path: readonly PropertyKey[],
  locations: FileValues['locations'],
): { offset: number | undefined } {
  for (let length = path.length - 1; length > 0; length--) {
    const location = locations.get(formatPath(path.slice(0, length)));
    if (location !== undefined) return location;
  }
  return { offset: undefined };
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}

function warnAboutContent(
  content: FileContent,
  { locations }: FileValues,
  report: ProblemReport,
): void {
  const { processPaths, proxyPorts, proxyUdpPorts } = content.white_list;
  if (processPaths.length === 0) {
    const keyPath = 'white_list.processPaths';
    const offset = locations.get(keyPath)?.offset;
    const expected = 'the paths of the programs that containers may run';
    const found = 'no program, so nothing may run';
    report.warning({ code: 'noWhiteList', keyPath, offset, found, expected });
  }
  const { routes = [], peers = [], ports = [] } = content.hostNetwork ?? {};
  const lists: Readonly<Record<string, readonly (string | number)[]>> = {
    'white_list.processPaths': processPaths.map(({ path }) => path),
    'white_list.proxyPorts': proxyPorts,
    'white_list.proxyUdpPorts': proxyUdpPorts,
    'routes.allow': content.routes.allow,
    'hostNetwork.routes': routes.map(({ destination }) => destination),
    'hostNetwork.peers': peers.map(({ subnet }) => subnet),
    'hostNetwork.ports': ports.map(({ proto, listen }) => `${proto} ${listen}`),
  };
  for (const [path, entries] of Object.entries(lists))
    warnAboutRepeats(entries, path, locations, report);
  if (content.upgrade.timestampedBy !== undefined && content.upgrade.signedBy === undefined)
    report.warning({
      code: 'noEffect',
      keyPath: 'upgrade.timestampedBy',
      offset: locations.get('upgrade.timestampedBy')?.offset,
      found: 'timestamp authorities without "signedBy", so no signature is checked',
      expected: 'upgrade.signedBy beside it',
    });
  const watchingPath = locations.get('upgrade.watchingPath');
  if (watchingPath !== undefined && !locations.has('upgrade.mode'))
    report.warning({
      code: 'noEffect',
      keyPath: 'upgrade.watchingPath',
      offset: watchingPath.offset,
      found: 'a path to watch without "mode: watching", so nothing is watched',
      expected: 'upgrade.mode beside it',
    });
}

function warnAboutRepeats(
  entries: readonly (string | number)[],
  listPath: string,
  locations: FileValues['locations'],
  report: ProblemReport,
): void {
  const seen = new Map<string | number, number>();
  for (const [index, entry] of entries.entries()) {
    const first = seen.get(entry);
    const keyPath = `${listPath}[${index}]`;
    if (first === undefined) {
      seen.set(entry, index);
      continue;
    }
    const [found, expected] = [`the same entry as ${listPath}[${first}]`, 'each entry once'];
    const offset = locations.get(keyPath)?.offset;
    report.warning({ code: 'duplicateEntry', keyPath, offset, found, expected });
  }
}

function listOrigins(
  value: unknown,
  schema: z.core.$ZodType,
  key: string,
  locations: ReadonlyMap<string, ValueLocation>,
  report: ProblemReport,
): ConfigOrigin[] {
  const fields =
    notationOf(bareSchema(schema)).shorthand === undefined ? fieldsOf(schema) : undefined;
  if (fields !== undefined && typeof value === 'object' && value !== null) {
    const section = value as Readonly<Record<string, unknown>>;
    return [...fields].flatMap(([name, field]) =>
      listOrigins(section[name], field, joinKey(key, name), locations, report),
    );
  }
  const entry = entryOf(schema);
  if (entry !== undefined && Array.isArray(value) && value.length > 0)
    return value.flatMap((item: unknown, index) =>
      listOrigins(item, entry, `${key}[${index}]`, locations, report),
    );
  const offset = locations.get(key)?.offset;
  return [{ key, value, origin: offset === undefined ? 'default' : report.location(offset) }];
}
