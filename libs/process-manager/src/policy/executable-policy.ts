// This file is longer than most, because an entry of the list, its faults and the verdict on a path read the same keys.
import { quoteText, foldAscii, type CanonicalPath, type SignerRule } from '@wins/base';
import type { ProcessRule } from '../process-error.js';
import { faultOfArgumentRules, type ArgumentRules } from './argument-rules.js';
import { faultOfAllowedVariables, type AllowedVariables } from './child-environment.js';
import { faultOfLimits, type LimitedEntry } from './run-limits.js';
import type { FilesGrant } from './run-files.js';
import { faultOfStop, type StoppedEntry } from './stop-request.js';
import {
  parsePath,
  describePathRule,
  PROCESS_NAME_PREFIX,
  stagedPathOf,
  type ParsedPath,
  type PathDialect,
  type PathRefusal,
} from './parsed-path.js';

/** File name extensions that CreateProcess cannot run, because another program has to open the file. */
const NO_PROGRAM =
  /\.(?:ps1|psm1|psd1|vbs|vbe|js|jse|wsf|wsh|msi|msp|lnk|url|py|pyw|rb|pl|sh|jar|txt|md|json|ya?ml|xml|ini|reg|inf|zip|dll|sys)$/;

/** Program that clients may run. */
export interface AllowedExecutable extends LimitedEntry, StoppedEntry {
  /** Absolute path, in the dialect of the host. */
  readonly path: string;
  /** Only files with one of these digests (hexadecimal) run; an empty list is an error. Default: any content. */
  readonly sha256?: readonly string[] | undefined;
  /** Rule for the signature of the program. Default: no signature needed. */
  readonly signerRule?: SignerRule | undefined;
  /** Variables that a client may set for this program. Default: none. */
  readonly envs?: AllowedVariables | undefined;
  /** Arguments that a client may pass. Default: any. */
  readonly args?: ArgumentRules | undefined;
  /** Absolute paths of working directories that a client may choose, besides the program's own folder. Default: none. */
  readonly directories?: readonly string[] | undefined;
  /**
   * Clients that may run the program, by the system's names for them: `administrators`, `user:UID`, `account:SID`,
   * `container:ID`, or a prefix such as `container:*`. Default: every client; an empty list is an error.
   */
  readonly for?: readonly string[] | undefined;
  /**
   * Allows the program to start processes that leave its tree and outlive the run and the daemon. Only the upgrade
   * helper needs this. The host denies it to all other programs, if it can. Default false.
   */
  readonly mayBreakAway?: boolean | undefined;
  /**
   * Program name in `argv[0]`: `copy` is the path of the verified copy, so that a search for `rancher-wins-` in command
   * lines finds the run; `listed` is `path`, for a program whose behaviour depends on its name. Default `copy`.
   */
  readonly argv0?: 'copy' | 'listed' | undefined;
  /** Allows a client to let the program outlive both the client and the daemon, within these bounds. Default: not allowed. */
  readonly detached?: DetachedGrant | undefined;
  /** Allows a client to give files to each run, within these bounds. Default: none. */
  readonly files?: FilesGrant | undefined;
}

/** An entry's bounds for runs that outlive their client. */
export interface DetachedGrant {
  /**
   * Limit on kept runs of one client, living and ended. At the limit, the client's run that ended first is removed; if none
   * has ended, the start is refused.
   */
  readonly maxRuns: number;
  /** Maximum size of the output kept for each run, in bytes. At the limit, the oldest output is dropped. */
  readonly spoolBytes: number;
  /** How long an ended run is kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** Allows a client to have the run restarted when it ends. Default: not allowed. */
  readonly restart?: RestartBackoff | undefined;
}

/** Delays between the restarts of a detached run, from the entry that allows it. */
export interface RestartBackoff {
  /** First delay, in milliseconds; each failure in a row doubles it. */
  readonly delayMs: number;
  /** Longest delay, in milliseconds. */
  readonly maxDelayMs: number;
  /** Failed restarts in a row after which the run is given up. Default: as many as the policy allows. */
  readonly giveUpAfter?: number | undefined;
}

declare const listed: unique symbol;

/** File name of an entry's program, as the list spells it. The brand shows that no client chose this text. */
export type EntryName = string & { readonly [listed]: true };

/** Verdict of the policy on a path, with the deciding rule. */
export type Verdict =
  | {
      readonly allowed: true;
      readonly rule: AllowedExecutable;
      readonly entry: EntryName;
      /** All entries for the path. Every entry that has `for` must allow the caller. */
      readonly matching: readonly AllowedExecutable[];
      /** The path to open: the rule's own spelling, never the request's. */
      readonly executable: ParsedPath;
      /** Same as `executable.canonical`. */
      readonly canonical: CanonicalPath;
    }
  | {
      readonly allowed: false;
      readonly code: 'invalidPath' | 'pathNotAllowed';
      readonly rule: ProcessRule;
      readonly message: string;
    };

/** A faulty or suspicious entry in the list of allowed programs, as {@link checkAllowedExecutables} reports it. */
export interface AllowedExecutableProblem {
  /** Position in the list, from 0. */
  readonly index: number;
  /** Path of the entry, as the list spells it. */
  readonly path: string;
  /** The two parts of the fault, for a message. */
  readonly found: string;
  readonly wanted: string;
  /** False when the entry is only suspicious. */
  readonly neverMatches: boolean;
}

/**
 * Decides whether a path may run; reads no file. Refuses an ambiguous spelling before any comparison. A faulty entry
 * never matches. Of several entries for one path, an entry with pinned digests takes precedence. Never throws.
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

/** Finds entries that can never match or that repeat another entry. Never throws. */
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
 * Finds entries that probably allow more than intended (any variable, any argument of an interpreter). Also finds
 * entries that allow nothing (they have `for`, but this host cannot identify callers). Never throws.
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
    if (entry.for !== undefined && !tellsCallersApart)
      doubts.push(
        'it can never run: it has "for", but this system cannot identify callers; wanted no "for"',
      );
    if (entry.envs === 'any')
      doubts.push(
        'its clients may set any variable ("envs: any"); wanted only the names that they need',
      );
    if (/(?! )\p{Zs}/u.test(entry.path))
      doubts.push('it has an unusual blank, as in pasted text; wanted a space, or none');
    if ((entry.args ?? 'any') === 'any' && isKnownTool(parsed)) {
      doubts.push('its arguments choose what it runs, and it may get any; wanted "args"');
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
  // Each fault reads "FOUND; wanted WANTED".
  const [found = fault, wanted = 'an entry that can match'] = fault.split('; wanted ');
  return { index, path: entry.path, found, wanted, neverMatches };
}

function parseExecutable(path: string, dialect: PathDialect): ParsedPath | PathRefusal {
  const parsed = parsePath(path, dialect);
  if ('refused' in parsed) return parsed;
  if (parsed.namesDirectory || parsed.baseName === '') return { refused: 'A11 names a directory' };
  const name = dialect === 'windows' ? foldAscii(parsed.baseName) : parsed.baseName;
  // The verified copy of another listed program could overwrite a file with this prefix.
  if (name.startsWith(PROCESS_NAME_PREFIX)) return { refused: 'name reserved for verified copies' };
  if (dialect !== 'windows') return parsed;
  if (/\.(?:bat|cmd)$/.test(name)) return { refused: 'A20 batch file' };
  return NO_PROGRAM.test(name) ? { refused: 'A20 no program' } : parsed;
}

function faultOf(entry: AllowedExecutable, dialect: PathDialect): string | undefined {
  // POSIX allows `*` and `?` in file names, but an author who writes a wildcard expects it to match several files.
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

type RefusedCode = Extract<Verdict, { readonly allowed: false }>['code'];

function refuse(code: RefusedCode, rule: ProcessRule, message: string): Verdict {
  return { allowed: false, code, rule, message };
}

/** Skips entries with an invalid path. */
export function stagedPathsOf(
  allowed: readonly AllowedExecutable[],
  dialect: PathDialect,
): readonly string[] {
  return allowed.flatMap(({ path }) => {
    const parsed = parsePath(path, dialect);
    return 'refused' in parsed || parsed.baseName === '' ? [] : [stagedPathOf(parsed)];
  });
}

// Interpreters, and tools whose arguments can start programs, load libraries or write files.
const TOOLS = new RegExp(
  '^(?:(?:rancher-)?wins|powershell|pwsh|cmd|bash|dash|zsh|ksh|fish|sh|busybox|python[0-9.]*|pythonw|pypy[0-9.]*|py|node|nodejs|' +
    'deno|bun|perl[0-9.]*|ruby[0-9.]*|php[0-9.]*|lua[0-9.]*|tclsh[0-9.]*|java|javaw|dotnet|awk|gawk|mawk|sed|find|xargs|env|' +
    'sudo|su|ssh|scp|rsync|git|tar|bsdtar|zip|unzip|7z|curl|wget|vi|vim|make|systemctl|docker|ctr|nerdctl|crictl|kubectl|' +
    'msiexec|rundll32|regsvr32|regasm|regsvcs|installutil|msbuild|mshta|wscript|cscript|certutil|bitsadmin|wmic|sc|net|' +
    'netsh|reg|schtasks|at|forfiles|cmstp|odbcconf|pcalua|hh|dism|psexec)$',
);

/** Only a hint: the list is not complete. */
function isKnownTool({ baseName }: ParsedPath): boolean {
  return TOOLS.test(foldAscii(baseName).replace(/\.(?:exe|com)$/, ''));
}

/** Caller names that an entry can list, by the host's dialect, and in words. */
const CALLERS: Readonly<Record<PathDialect, readonly [names: RegExp, wanted: string]>> = {
  posix: [
    /^(?:administrators|user:[0-9]+|container:(?:\*|[0-9a-f]{12,63}\*|[0-9a-f]{64}))$/,
    'administrators, user:UID or container:ID',
  ],
  windows: [
    /^(?:administrators|account:S-[0-9-]+|container:\*)$/,
    'administrators, account:SID or container:*',
  ],
};

/** A `*` at the end of a listed name matches any suffix. */
export function allowsCaller(wanted: readonly string[], names: readonly string[]): boolean {
  return wanted.some((pattern) =>
    pattern.endsWith('*')
      ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern),
  );
}

export function faultOfCallers(
  wanted: readonly string[] | undefined,
  dialect: PathDialect,
): string | undefined {
  if (wanted?.length === 0) return 'its "for" is empty; wanted at least one caller, or no "for"';
  const [names, known] = CALLERS[dialect];
  const strange = wanted?.find((pattern) => !names.test(pattern));
  return strange === undefined
    ? undefined
    : `its "for" has ${quoteText(strange)}, which is not a caller on this system; wanted ${known}`;
}
