import { quoteText } from '@wins/wins-program';

import { allowsCaller } from './policy/caller-rules.js';
import {
  judgeExecutablePath,
  type AllowedExecutable,
  type Verdict,
} from './policy/executable-policy.js';
import type { PathDialect } from './policy/parsed-path.js';
import { ProcessError } from './process-error.js';

/** An entry that lets a caller run a program. */
export type Admission = Extract<Verdict, { readonly allowed: true }>;

/**
 * Finds the entry by which a caller may run a program, from data alone: starts and questions about starts are judged by this.
 *
 * @param callerNames What the system calls the caller; undefined leaves `for` of the entries aside.
 * @throws ProcessError `invalidPath`, `pathNotAllowed`, `callerNotAllowed`.
 */
export function admitProgram(
  path: string,
  callerNames: readonly string[] | undefined,
  { allowed, dialect, howToAllow }: AdmissionContext,
): Admission {
  const verdict = judgeExecutablePath(path, allowed, dialect);
  if (!verdict.allowed) {
    const { code, rule } = verdict;
    const isAdvised = code === 'pathNotAllowed' && howToAllow !== undefined;
    const message = isAdvised ? `${verdict.message}; ${howToAllow}` : verdict.message;
    throw new ProcessError(code, message, { path, rule });
  }
  if (callerNames !== undefined) {
    for (const entry of verdict.matching) assertCaller(callerNames, entry);
  }
  return verdict;
}

/** The list of what may run, and how its paths are compared. */
export interface AdmissionContext {
  readonly allowed: readonly AllowedExecutable[];
  readonly dialect: PathDialect;
  /** The next step in the refusal of a program that is not listed. */
  readonly howToAllow?: string | undefined;
}

function assertCaller(names: readonly string[], { path, for: wanted }: AllowedExecutable): void {
  if (wanted === undefined || allowsCaller(wanted, names)) return;
  const caller =
    names.length === 0
      ? 'a caller that the system cannot identify'
      : names.map((text) => quoteText(text)).join(', ');
  // A caller that is refused does not learn who is allowed.
  const message = `cannot run ${quoteText(path)} for ${caller}: found no such name in its entry; wanted one of these names in "for" of the entry`;
  throw new ProcessError('callerNotAllowed', message, { path, rule: 'A60 caller not allowed' });
}
