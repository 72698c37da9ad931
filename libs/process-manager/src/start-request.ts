import { ProcessError } from './process-error.js';
import {
  canonicalPath,
  quoteText,
  type CanonicalPath,
  type ExposedPort,
  type HostCommand,
  type TreeLimits,
} from '@wins/base';
import path from 'node:path';
import {
  admitProgram,
  assertCaller,
  type Admission,
  type AdmissionContext,
} from './judge-start.js';
import { allowsArguments } from './policy/argument-rules.js';
import { childEnvironment } from './policy/child-environment.js';
import type { AllowedExecutable, EntryName, DetachedGrant } from './policy/executable-policy.js';
import {
  parsePath,
  describePathRule,
  processName,
  stagedPathOf,
  type PathDialect,
} from './policy/parsed-path.js';
import { assertRunFiles, type RunFile } from './policy/run-files.js';
import { grantedLimits } from './policy/run-limits.js';
import { expectedDigest, type ExpectedDigest } from './staging/staged-binary.js';
import type {
  Lifetime,
  ManagedProcess,
  ProcessOwner,
  RunLimits,
} from './supervision/managed-process.js';
import type { SupervisedTree } from './supervision/supervised-tree.js';

/** Maximum counts and text lengths of one start. */
export const START_LIMITS = {
  arguments: 4_096,
  variables: 256,
  exposes: 256,
  files: 32,
  /** Limit of each argument and each `NAME=value`, in octets of UTF-8. */
  textBytes: 64 * 1024,
} as const;

export type CountedRequest = Pick<StartRequest, 'args' | 'envs'> & {
  readonly exposes?: readonly unknown[] | undefined;
  readonly files?: readonly unknown[] | undefined;
};

/** @throws ProcessError `invalidArgument` for a request that is larger than any program needs. */
export function assertWithinLimits(request: CountedRequest): void {
  const { args, envs, exposes = [], files = [] } = request;
  assertCount(args.length, START_LIMITS.arguments, 'arguments');
  assertCount(envs.length, START_LIMITS.variables, 'environment variables');
  assertCount(exposes.length, START_LIMITS.exposes, 'exposed ports');
  assertCount(files.length, START_LIMITS.files, 'files');
  assertShort(args, 'argument');
  assertShort(envs, 'environment variable');
}

function assertCount(found: number, limit: number, what: string): void {
  if (found > limit) throw refusal(`it has more than ${limit} ${what}`);
}

function assertShort(texts: readonly string[], what: string): void {
  const { textBytes } = START_LIMITS;
  const index = texts.findIndex((text) => Buffer.byteLength(text) > textBytes);
  if (index === -1) return;
  throw refusal(`${what} ${index + 1} is longer than ${textBytes} bytes`);
}

function refusal(found: string): ProcessError {
  const message = `cannot start a program with this request: ${found}`;
  return new ProcessError('invalidArgument', message, { rule: 'A50 request too large' });
}

/** A program to start, with the arguments, variables, limits and files of one run. */
export interface StartRequest {
  /** Absolute path on the host. */
  readonly path: string;
  /**
   * Name of the run, unique among the living runs of the manager. Runs of this name then share a verified copy of their own, so that runs of programs
   * with one file name live side by side. Default: `rancher-wins-` and the file name of the program.
   */
  readonly name?: string | undefined;
  /** Digests of the file as the client sees it, hexadecimal; one is required unless `grantedBy` is set. `sha256` takes precedence. */
  readonly sha1?: string | undefined;
  readonly sha256?: string | undefined;
  /** Passed unchanged, without a shell. At most 4,096 arguments, each of at most 64 KiB. The entry's `args` must allow them. */
  readonly args: readonly string[];
  /** `NAME=value`, added to the variables that every run gets. At most 256, each of at most 64 KiB. The entry's `envs` must allow them. */
  readonly envs: readonly string[];
  /** Absolute working directory, one of the entry's `directories`; default the directory of the program. */
  readonly directory?: string | undefined;
  /** At most 256. */
  readonly exposes?: readonly ExposedPort[] | undefined;
  /** Limits of the run, up to the entry's `maxLimits`. Default: the entry's `limits`, else `maxLimits`. */
  readonly limits?: TreeLimits | undefined;
  /**
   * True to end the current run of the same program first, instead of failing with `alreadyRunning`. Of several such
   * starts, only the newest goes on. Default false.
   */
  readonly replace?: boolean | undefined;
  /** Files for the run's folder, whose path is in `WINS_FILES`. At most 32. The entry's `files` must allow them. */
  readonly files?: readonly RunFile[] | undefined;
  /** Connection that gets the right to read and stop the run. */
  readonly owner: ProcessOwner;
  /** Entry used instead of the manager's `allowed` list, for programs that the host itself starts. The request's digests are then ignored. */
  readonly grantedBy?: AllowedExecutable | undefined;
  /** Makes the run survive the manager. Default: the run ends with its connection or with the manager. */
  readonly keeping?: Keeping | undefined;
}

/** Starts a run where it survives the manager. */
export interface Keeping {
  /** If the entry does not grant `detached`, a run with a `lease` ends with the manager too. */
  readonly lifetime: Exclude<Lifetime, 'connection'>;
  /** True when the run is a restart, or may be restarted. The entry's `detached` must then grant `restart`. Default false. */
  readonly mayRestart?: boolean | undefined;
  /** Starts the command and records the run for adoption. Returns undefined to request a run that ends with the manager. */
  start(
    command: HostCommand,
    run: RunFacts,
    grant: DetachedGrant,
  ): Promise<SupervisedTree | undefined>;
}

/** Facts about a run that the next manager needs. */
export interface RunFacts extends Pick<
  ManagedProcess,
  'name' | 'mark' | 'path' | 'stagedPath' | 'sha256'
> {
  readonly entry: string;
  readonly limits?: RunLimits | undefined;
}

export interface StartPlan {
  readonly rule: AllowedExecutable;
  readonly name: string;
  readonly path: CanonicalPath;
  readonly entry: EntryName;
  readonly stagedPath: string;
  /** Undefined for a program that the host itself starts, because no client has seen the file. */
  readonly digest: ExpectedDigest | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: CanonicalPath;
  readonly limits: TreeLimits | undefined;
  /** False for the program's own directory, which is judged together with the program. */
  readonly isElsewhere: boolean;
}

/** @throws ProcessError `invalidArgument`, `invalidPath`, `pathNotAllowed`, `callerNotAllowed`. */
export function admitStart(request: StartRequest, context: AdmissionContext): Admission {
  assertWithinLimits(request);
  const admission = admitProgram(request.path, context);
  assertCaller(request.owner.client?.names ?? [], admission);
  return admission;
}

/**
 * Reads no file, so a refusal reveals nothing about the host.
 *
 * @param base Layers of the variables that every run gets; the last layer wins.
 * @throws ProcessError `invalidArgument`, `envNotAllowed`, `argumentsNotAllowed`, `directoryNotAllowed`,
 * `limitsNotAllowed`, `detachedNotAllowed`, `filesNotAllowed`.
 */
export function planStart(
  request: StartRequest,
  { executable, rule, entry }: Admission,
  base: readonly Readonly<Record<string, string>>[],
  dialect: PathDialect,
): StartPlan {
  if (request.args.some((argument) => argument.includes('\0'))) {
    throw new ProcessError('invalidArgument', 'cannot pass an argument that holds NUL');
  }
  for (const { protocol, port } of request.exposes ?? []) {
    if (Number.isInteger(port) && port >= 1 && port <= 65_535) continue;
    const found = `${protocol} port ${port}`;
    throw new ProcessError('invalidArgument', `cannot expose ${found}; wanted 1 to 65535`);
  }
  assertArguments(request.args, rule, dialect);
  const { keeping } = request;
  const notGranted = (message: string): ProcessError =>
    new ProcessError('detachedNotAllowed', message, { rule: 'A120 detached not granted' });
  const program = quoteText(rule.path);
  if (keeping?.lifetime === 'detached' && rule.detached === undefined)
    throw notGranted(
      `cannot run ${program} detached: its entry does not grant it. Add "allow: true" to "detached" of the entry`,
    );
  if (keeping?.mayRestart === true && rule.detached?.restart === undefined)
    throw notGranted(
      `cannot restart ${program} when it has ended: its entry does not grant it. Add "restart: true" to "detached" of the entry`,
    );
  assertRunFiles(request.files ?? [], rule);
  return {
    rule,
    name: request.name ?? processName(executable.baseName),
    path: executable.canonical,
    entry,
    stagedPath: stagedPathOf(executable),
    digest: request.grantedBy ? undefined : expectedDigest(request.sha1, request.sha256),
    args: request.args,
    limits: grantedLimits(request.limits ?? {}, rule),
    env: childEnvironment({ base, envs: request.envs, dialect, allowed: rule.envs ?? [] }),
    ...workingDirectory(request.directory ?? '', executable.canonical, rule, dialect),
  };
}

function assertArguments(
  args: readonly string[],
  rule: AllowedExecutable,
  dialect: PathDialect,
): void {
  const { args: rules = 'any', path: program } = rule;
  if (allowsArguments(rules, args, dialect)) return;
  // The message omits the passed and the granted arguments, because both may be secret.
  const found = `${args.length} arguments: its entry does not allow them`;
  const message = `cannot run ${quoteText(program)} with these ${found}; see "args" of the entry`;
  throw new ProcessError('argumentsNotAllowed', message, { rule: 'A40 arguments not allowed' });
}

function workingDirectory(
  asked: string,
  executable: string,
  { directories = [] }: AllowedExecutable,
  dialect: PathDialect,
): Pick<StartPlan, 'directory' | 'isElsewhere'> {
  const rules = dialect === 'windows' ? path.win32 : path.posix;
  const own = canonicalPath(rules.dirname(executable), dialect);
  if (asked === '') return { directory: own, isElsewhere: false };
  const parsed = parsePath(asked, dialect);
  if ('refused' in parsed) {
    const found = describePathRule(parsed.refused);
    const message = `cannot use the working directory ${quoteText(asked)}: ${found}`;
    throw new ProcessError('invalidArgument', message, { path: asked, rule: parsed.refused });
  }
  for (const allowed of [own, ...directories]) {
    const listed = parsePath(allowed, dialect);
    if ('refused' in listed || listed.key !== parsed.key) continue;
    return { directory: listed.canonical, isElsewhere: allowed !== own };
  }
  const message = `cannot use the working directory ${quoteText(asked)}: it is not listed. Add it to "directories" of the entry`;
  const facts = { path: asked, rule: 'A18 directory not listed' } as const;
  throw new ProcessError('directoryNotAllowed', message, facts);
}
