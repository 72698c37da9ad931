import { quoteText, foldAscii } from '@wins/base';
import type { ProcessRule } from '../process-error.js';
import { faultOfArgumentRules, type ArgumentRules } from './argument-rules.js';
import { faultOfAllowedVariables, type AllowedVariables } from './child-environment.js';
import { faultOfLimits, type LimitedEntry } from './run-limits.js';
import type { FilesGrant } from './run-files.js';
import { faultOfStop, type StoppedEntry } from './stop-request.js';
import {
  parsePath,
  type ParsedPath,
  type PathDialect,
  type PathRefusal,
  describePathRule,
  PROCESS_NAME_PREFIX,
  stagedPathOf,
} from './parsed-path.js';

/** File name extensions that CreateProcess cannot run: another program would have to open such a file. */
const NO_PROGRAM =
  /\.(?:ps1|psm1|psd1|vbs|vbe|js|jse|wsf|wsh|msi|msp|lnk|url|py|pyw|rb|pl|sh|jar|txt|md|json|ya?ml|xml|ini|reg|inf|zip|dll|sys)$/;

/** One program that clients may run. */
export interface AllowedExecutable extends LimitedEntry, StoppedEntry {
  /** Absolute path, in the dialect of the host. */
  readonly path: string;
  /** SHA-256 digests, hexadecimal. When present only these bytes run; an empty list is a mistake. */
  readonly sha256?: readonly string[];
  /** Certificates, by SHA-256, one of which must have signed the program. See `readSignature` of the manager. Default: any program. */
  readonly signedBy?: readonly string[];
  /** Variables that a client may set for this program. Default: none. */
  readonly envs?: AllowedVariables;
  /** Arguments that a client may pass. Default: any. */
  readonly args?: ArgumentRules;
  /** Absolute paths of folders in which a client may have it run, besides the program's own. Default: none. */
  readonly directories?: readonly string[];
  /**
   * Clients that may run it, by the system's names for them: `administrators`, `user:UID`, `account:SID`, `container:ID`, or a prefix
   * such as `container:*`. Default: everyone; an empty list is a mistake.
   */
  readonly for?: readonly string[];
  /**
   * Whether the program may start processes outside of its tree, which outlive the run and the daemon: for the helper of an
   * upgrade alone. Where the host can tell, every other program's whole tree ends with its run. Default false.
   */
  readonly mayBreakAway?: boolean;
  /**
   * Name that the program sees as its own: the path of the verified copy, so that a search for `rancher-wins-` in command
   * lines finds the run, or `listed`, which is `path`, for a program that behaves by its name. Default `copy`.
   */
  readonly argv0?: 'copy' | 'listed';
  /** Lets a client have the program outlive it and the daemon, within these bounds. Default: not at all. */
  readonly lasting?: LastingGrant;
  /** Lets a client give each run files, within these bounds. Default: none. */
  readonly files?: FilesGrant;
}

/** Bounds of the runs of one entry that outlive their client. */
export interface LastingGrant {
  /** Runs that are kept, living and ended ones. At the limit the one that ended first goes; with none ended a start is refused. */
  readonly maxRuns: number;
  /** Output that is kept of each, in bytes. At the limit the oldest goes. */
  readonly spoolBytes: number;
  /** How long an ended run is kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** Whether a client may have it started again when it has ended. Default false. */
  readonly restart?: boolean;
}

declare const listed: unique symbol;

/** The file name of an entry's program, as the list spells it. The type shows that no client chose it. */
export type EntryName = string & { readonly [listed]: true };

/** Verdict of the policy on a path, with the rule that decided. */
export type Verdict =
  | {
      readonly allowed: true;
      readonly rule: AllowedExecutable;
      readonly entry: EntryName;
      /** All entries that name the path: each that has `for` must grant the caller. */
      readonly matching: readonly AllowedExecutable[];
      /** The path to open: the rule's own spelling, never the request's. */
      readonly executable: ParsedPath;
      /** Same as `executable.canonical`. */
      readonly canonical: string;
    }
  | {
      readonly allowed: false;
      readonly code: 'invalidPath' | 'pathNotAllowed';
      readonly rule: ProcessRule;
      readonly message: string;
    };

/** An entry of the list with which something is wrong, and what. */
export interface AllowedExecutableProblem {
  /** Position in the list, from 0. */
  readonly index: number;
  readonly path: string;
  /** The finding and the expectation, without the entry: for callers that name entries by another word. */
  readonly found: string;
  readonly wanted: string;
  /** True when the entry can never match; false when it is only doubtful. */
  readonly neverMatches: boolean;
  readonly message: string;
}

/**
 * Decides from data alone whether a path may run: an odd spelling is refused before anything is
 * compared, then whole canonical paths are compared. An empty list allows nothing, a faulty entry
 * never matches, and when entries repeat a path one that pins digests decides. Never throws.
 */
export function judgeExecutablePath(
  path: string,
  allowed: readonly AllowedExecutable[],
  dialect: PathDialect,
): Verdict {
  const asked = parseExecutable(path, dialect);
  if ('refused' in asked) {
    const found = describePathRule(asked.refused);
    return refuse('invalidPath', asked.refused, `cannot run ${quoteText(path)}: ${found}`);
  }
  const matches = allowed.flatMap((rule) => {
    const executable = parseExecutable(rule.path, dialect);
    const matching =
      !('refused' in executable) &&
      executable.key === asked.key &&
      faultOf(rule, dialect) === undefined;
    return matching ? [{ rule, executable }] : [];
  });
  const match = matches.find(({ rule }) => rule.sha256 !== undefined) ?? matches[0];
  if (match === undefined) {
    const rule = allowed.length === 0 ? 'A1 nothing is allowed' : 'A15 not listed';
    const found =
      allowed.length === 0 ? 'no program may run: the list is empty' : 'it is not listed';
    return refuse('pathNotAllowed', rule, `cannot run ${quoteText(path)}: ${found}`);
  }
  const matching = matches.map(({ rule }) => rule);
  const { baseName, canonical } = match.executable;
  return { allowed: true, ...match, entry: baseName as EntryName, matching, canonical };
}

/**
 * Finds the entries that can never match or that repeat another, so that a daemon can report them
 * at start. Never throws.
 */
export function checkAllowedExecutables(
  allowed: readonly AllowedExecutable[],
  dialect: PathDialect,
): readonly AllowedExecutableProblem[] {
  const seen = new Map<string, number>();
  return allowed.flatMap((entry, index) => {
    const parsed = parseExecutable(entry.path, dialect);
    const fault = 'refused' in parsed ? describePathRule(parsed.refused) : faultOf(entry, dialect);
    let first: number | undefined;
    if (!('refused' in parsed)) {
      first = seen.get(parsed.key);
      if (first === undefined) seen.set(parsed.key, index);
    }
    if (fault !== undefined) return [problemOf(entry, index, fault, true)];
    if (first === undefined) return [];
    return [problemOf(entry, index, `it repeats entry ${first}; wanted each program once`)];
  });
}

/**
 * Finds the entries that allow more than may be meant, so that a daemon can say so at start: any variable, or any arguments of a
 * program that runs what its arguments name; or less: to callers whom this host cannot tell apart. Never throws.
 */
export function doubtAllowedExecutables(
  allowed: readonly AllowedExecutable[],
  dialect: PathDialect,
  { tellsCallersApart }: { readonly tellsCallersApart: boolean },
): readonly AllowedExecutableProblem[] {
  return allowed.flatMap((entry, index) => {
    const parsed = parseExecutable(entry.path, dialect);
    if ('refused' in parsed) return [];
    const doubts: string[] = [];
    if (entry.for !== undefined && !tellsCallersApart) {
      doubts.push(
        'it can never run: it has "for", but this system cannot identify callers; wanted no "for"',
      );
    }
    if (entry.envs === 'any') {
      doubts.push(
        'its clients may set any variable ("envs: any"); wanted only the names that they need',
      );
    }
    if (/(?! )\p{Zs}/u.test(entry.path))
      doubts.push('it has an unusual blank, as in pasted text; wanted a space, or none');
    if ((entry.args ?? 'any') === 'any' && isKnownTool(parsed)) {
      doubts.push('its arguments choose what it runs, and any are allowed; wanted "args"');
    }
    return doubts.map((doubt) => problemOf(entry, index, doubt));
  });
}

function problemOf(
  entry: AllowedExecutable,
  index: number,
  fault: string,
  neverMatches = false,
): AllowedExecutableProblem {
  // Each fault is written "FOUND; wanted WANTED".
  const [found = fault, wanted = 'an entry that can match'] = fault.split('; wanted ');
  const message = `allowed executable ${index} (${quoteText(entry.path)}): ${fault}`;
  return { index, path: entry.path, found, wanted, neverMatches, message };
}

function parseExecutable(path: string, dialect: PathDialect): ParsedPath | PathRefusal {
  const parsed = parsePath(path, dialect);
  if ('refused' in parsed) return parsed;
  if (parsed.namesDirectory || parsed.baseName === '') return { refused: 'A11 names a directory' };
  const name = dialect === 'windows' ? foldAscii(parsed.baseName) : parsed.baseName;
  // A listed file of that name would be overwritten by the verified copy of its neighbour.
  if (name.startsWith(PROCESS_NAME_PREFIX)) return { refused: 'name reserved for verified copies' };
  if (dialect !== 'windows') return parsed;
  if (/\.(?:bat|cmd)$/.test(name)) return { refused: 'A20 batch file' };
  return NO_PROGRAM.test(name) ? { refused: 'A20 no program' } : parsed;
}

function faultOf(entry: AllowedExecutable, dialect: PathDialect): string | undefined {
  // A file may have such a name where Windows is not; an entry of that name means another file.
  if (/[*?]/.test(entry.path)) return 'it has a wildcard; wanted the path of one program';
  if (entry.sha256?.length === 0) return 'its "sha256" is empty; wanted a digest, or no "sha256"';
  if (entry.sha256?.some((digest) => !/^[0-9a-f]{64}$/i.test(digest)) === true) {
    return 'its "sha256" has an invalid digest; wanted 64 hexadecimal digits';
  }
  for (const directory of entry.directories ?? []) {
    const parsed = parsePath(directory, dialect);
    if ('refused' in parsed) {
      const found = describePathRule(parsed.refused);
      return `${quoteText(directory)} in its "directories" cannot be used: ${found}`;
    }
  }
  return (
    faultOfAllowedVariables(entry.envs ?? []) ??
    faultOfArgumentRules(entry.args ?? 'any', dialect) ??
    faultOfCallers(entry.for, dialect) ??
    faultOfLimits(entry) ??
    faultOfStop(entry, dialect)
  );
}

function refuse(
  code: 'invalidPath' | 'pathNotAllowed',
  rule: ProcessRule,
  message: string,
): Verdict {
  return { allowed: false, code, rule, message };
}

/** Where the verified copies of these programs lie; entries that can never match have none. */
export function stagedPathsOf(
  allowed: readonly AllowedExecutable[],
  dialect: PathDialect,
): readonly string[] {
  return allowed.flatMap(({ path }) => {
    const parsed = parsePath(path, dialect);
    return 'refused' in parsed || parsed.baseName === '' ? [] : [stagedPathOf(parsed)];
  });
}

// Interpreters, and tools that start programs, load libraries or write files where their arguments say.
const TOOLS = new RegExp(
  '^(?:(?:rancher-)?wins|powershell|pwsh|cmd|bash|dash|zsh|ksh|fish|sh|busybox|python[0-9.]*|pythonw|pypy[0-9.]*|py|node|nodejs|' +
    'deno|bun|perl[0-9.]*|ruby[0-9.]*|php[0-9.]*|lua[0-9.]*|tclsh[0-9.]*|java|javaw|dotnet|awk|gawk|mawk|sed|find|xargs|env|' +
    'sudo|su|ssh|scp|rsync|git|tar|bsdtar|zip|unzip|7z|curl|wget|vi|vim|make|systemctl|docker|ctr|nerdctl|crictl|kubectl|' +
    'msiexec|rundll32|regsvr32|regasm|regsvcs|installutil|msbuild|mshta|wscript|cscript|certutil|bitsadmin|wmic|sc|net|' +
    'netsh|reg|schtasks|at|forfiles|cmstp|odbcconf|pcalua|hh|dism|psexec)$',
);

/** Whether a program is known to run code, or to write files, that its arguments name. By its name alone: a hint, no verdict. */
function isKnownTool({ baseName }: ParsedPath): boolean {
  return TOOLS.test(foldAscii(baseName).replace(/\.(?:exe|com)$/, ''));
}

/** The names that the hosts of each kind have for a caller, and so the names an entry can list. */
const KNOWN: Readonly<Record<PathDialect, RegExp>> = {
  posix: /^(?:administrators|user:[0-9]+|container:(?:\*|[0-9a-f]{12,63}\*|[0-9a-f]{64}))$/,
  windows: /^(?:administrators|account:S-[0-9-]+|container:\*)$/,
};

const WANTED: Readonly<Record<PathDialect, string>> = {
  posix: 'administrators, user:UID or container:ID',
  windows: 'administrators, account:SID or container:*',
};

/**
 * Whether one of these callers is meant. A `*` at the end stands for whatever follows. Pure; never throws; who has no name is
 * no one.
 *
 * @param names - What the system calls the caller, such as `user:1000`.
 */
export function allowsCaller(wanted: readonly string[], names: readonly string[]): boolean {
  return wanted.some((pattern) =>
    pattern.endsWith('*')
      ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern),
  );
}

/** Why callers can never be meant on a host of this kind, or undefined. */
export function faultOfCallers(
  wanted: readonly string[] | undefined,
  dialect: PathDialect,
): string | undefined {
  if (wanted?.length === 0) return 'its "for" is empty; wanted at least one caller, or no "for"';
  const strange = wanted?.find((pattern) => !KNOWN[dialect].test(pattern));
  return strange === undefined
    ? undefined
    : `its "for" has ${quoteText(strange)}, which is not a caller on this system; wanted ${WANTED[dialect]}`;
}
