import { messageOf, quoteText, type CanonicalPath, type ProcessHost } from '@wins/base';
import { TrustedFileError } from '../trusted-file-error.js';
import type { Distrust, FileTrust, TrustRule } from './file-trust.js';

/** Codes of a process host's failures; the process manager has a code of the same name for each. */
export type HostFailureCode =
  | ('invalidArgument' | 'limitsUnavailable' | 'notExecutable' | 'notFound' | 'pathNotTrusted')
  | ('spawnFailed' | 'stagingFailed' | 'stateUnavailable' | 'unknown');

/** Facts about a failure of a process host. Absent fields do not apply. */
export interface HostFailureDetails {
  readonly cause?: unknown;
  readonly path?: string | undefined;
  readonly rule?: TrustRule | undefined;
}

/** Creates an error of the caller's class. */
export type MakeHostFailure = (
  code: HostFailureCode,
  message: string,
  details: HostFailureDetails,
) => Error;

/** Options that the process hosts of all platforms have. */
export interface ProcessHostOptions {
  /** Creates the errors of the host. Default: the host's own error class. */
  readonly failure?: MakeHostFailure | undefined;
}

/** The part of a process host that checks who can write files and directories. */
export type HostPaths = Pick<
  ProcessHost,
  'assertTrustedFile' | 'assertTrustedDirectory' | 'ensurePrivateDirectory'
>;

/**
 * Creates the path checks of a process host. The texts in `wanted` are for error messages: they describe the files and
 * the directories that the checks accept.
 */
export function hostPaths(
  trust: Pick<FileTrust, 'distrustOfFile' | 'distrustOfFolder' | 'ensurePrivateFolder'>,
  failure: MakeHostFailure,
  wanted: Readonly<Record<'file' | 'directory', string>>,
): HostPaths {
  const codeOf = (error: unknown) =>
    error instanceof Error && 'code' in error && error.code === 'notFound' ? 'notFound' : 'unknown';
  const asserting =
    (tried: string, judge: (path: CanonicalPath) => Distrust | undefined, expected: string) =>
    // oxlint-disable-next-line typescript/require-await -- an exception must become a rejection
    async (path: CanonicalPath): Promise<void> => {
      const distrust = failing(failure, path, codeOf, () => judge(path));
      if (distrust === undefined) return;
      const { rule, path: step, found } = distrust;
      const where = step === path ? '' : ` because of ${quoteText(step)}`;
      const message = `${tried} ${quoteText(path)}${where}: ${found}; wanted ${expected}`;
      throw failure('pathNotTrusted', message, { path, rule });
    };
  const unavailable = (): HostFailureCode => 'stateUnavailable';
  return {
    assertTrustedFile: asserting('cannot run', trust.distrustOfFile, wanted.file),
    assertTrustedDirectory: asserting('cannot work in', trust.distrustOfFolder, wanted.directory),
    ensurePrivateDirectory: (path) =>
      failing(failure, path, unavailable, () => trust.ensurePrivateFolder(path)),
  };
}

/** Runs an operation and converts its errors with `failure`. */
export function failing<T>(
  failure: MakeHostFailure,
  path: string | undefined,
  codeOf: (error: unknown) => HostFailureCode,
  action: () => T,
): T {
  try {
    return action();
  } catch (error) {
    const message = messageOf(error);
    const cause = error instanceof TrustedFileError ? (error.cause ?? error) : error;
    throw failure(codeOf(error), message, { cause, ...(path !== undefined && { path }) });
  }
}
