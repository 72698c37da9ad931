import { quoteText, type ProcessHost } from '@wins/base';
import {
  allowsCaller,
  judgeExecutablePath,
  type AllowedExecutable,
  type Verdict,
} from './policy/executable-policy.js';
import { asProcessError, ProcessError } from './process-error.js';
import { expectedDigest, verifyBytes } from './staging/staged-binary.js';

export type Admission = Extract<Verdict, { readonly allowed: true }>;

/** Finds the entry of a program, for any caller. Reads no file. @throws ProcessError `invalidPath`, `pathNotAllowed`. */
export function admitProgram(
  path: string,
  { allowed, host, howToAllow }: AdmissionContext,
): Admission {
  const verdict = judgeExecutablePath(path, allowed, host.dialect);
  if (!verdict.allowed) {
    const { code, rule } = verdict;
    const isAdvised = code === 'pathNotAllowed' && howToAllow !== undefined;
    const message = isAdvised ? `${verdict.message}; ${howToAllow}` : verdict.message;
    throw new ProcessError(code, message, { path, rule });
  }
  return verdict;
}

/** Allowed programs, and the host with its rules for paths, by which a path is judged. */
export interface AdmissionContext {
  readonly allowed: readonly AllowedExecutable[];
  readonly host: Pick<ProcessHost, 'dialect'>;
  /** Advice in the message that refuses an unlisted program. */
  readonly howToAllow?: string | undefined;
}

/** @param names - The system's names for the caller. @throws ProcessError `callerNotAllowed`. */
export function assertCaller(names: readonly string[], { matching }: Admission): void {
  const refusing = matching.find((entry) => entry.for && !allowsCaller(entry.for, names));
  if (refusing === undefined) return;
  const { path } = refusing;
  const caller =
    names.length === 0
      ? 'a caller that the system cannot identify'
      : names.map((text) => quoteText(text)).join(', ');
  // The message does not list the allowed callers, so that a refused caller does not learn them.
  const message = `cannot run ${quoteText(path)} for ${caller}: this caller is not listed in "for" of the entry`;
  throw new ProcessError('callerNotAllowed', message, { path, rule: 'A60 caller not allowed' });
}

/** A hypothetical start to judge. */
export interface StartQuestion {
  /** Absolute path on the host. */
  readonly path: string;
  /** SHA-256 of the file as the client sees it, hexadecimal. Absent or empty: the content is not judged. */
  readonly sha256?: string | undefined;
  /** The system's names for the caller. If absent, the `for` lists of entries are not checked. */
  readonly callerNames?: readonly string[] | undefined;
}

/** Answer to a {@link StartQuestion}, with the entry that decided. */
export interface StartVerdict {
  /** The error that the start would fail with; absent when it would be allowed. */
  readonly refusal?: ProcessError | undefined;
  /** Index of the entry for the path; absent if there is none. */
  readonly entryIndex?: number | undefined;
  /** True when the entry pins digests. A file with another digest is then refused. */
  readonly isPinned: boolean;
}

/** Rules and host access by which a {@link StartQuestion} is judged. */
export interface StartQuestionContext extends AdmissionContext {
  readonly host: Pick<ProcessHost, 'dialect' | 'assertTrustedFile' | 'assertProgram'>;
  /** Schedules the hashing. Default: at once. */
  readonly whenFree?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
  /** Called between blocks; an exception aborts the hashing. */
  readonly checkpoint?: (() => void) | undefined;
}

/**
 * Judges whether a program would start. Applies the rules in the order of a start: the list, the caller, write access to
 * the file, and its bytes. Does not start, copy or record anything. Does not judge arguments, variables or folders.
 * Never rejects.
 */
export async function judgeStart(
  question: StartQuestion,
  context: StartQuestionContext,
): Promise<StartVerdict> {
  const { allowed, host } = context;
  const { path, sha256 = '', callerNames } = question;
  let admission: Admission | undefined;
  let refusal: ProcessError | undefined;
  try {
    admission = admitProgram(path, context);
    if (callerNames !== undefined) assertCaller(callerNames, admission);
    await host.assertTrustedFile(admission.canonical);
    await host.assertProgram?.(admission.canonical);
    if (sha256 !== '') await assertBytes(admission, sha256, context);
  } catch (error) {
    refusal = asProcessError(error, 'judge a start');
  }
  return {
    refusal,
    entryIndex: admission && allowed.indexOf(admission.rule),
    isPinned: admission?.rule.sha256 !== undefined,
  };
}

async function assertBytes(
  { canonical, rule }: Admission,
  sha256: string,
  { checkpoint, whenFree = (work) => work() }: StartQuestionContext,
): Promise<void> {
  const wanted = { source: canonical, expected: expectedDigest('', sha256), pins: rule.sha256 };
  await whenFree(async () => {
    checkpoint?.();
    await verifyBytes(wanted, checkpoint);
  });
}
