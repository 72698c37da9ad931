import {
  distrusted,
  fileSystemError,
  TrustedFileError,
  type FileTrust,
  type TrustedFileErrorCode,
} from '@wins/trusted-files';
import { TextError } from '@wins/wins-program';
import path from 'node:path';
import { WindowsError, type WindowsErrorCode } from '../windows-error.js';
import {
  distrustOfFile,
  distrustOfFolder,
  distrustOfPrivateFolder,
  makePrivateFolder,
} from './trusted-file.js';

const CODES: Readonly<Partial<Record<WindowsErrorCode, TrustedFileErrorCode>>> = {
  accessDenied: 'accessDenied',
  alreadyExists: 'alreadyExists',
  notFound: 'notFound',
  busy: 'inUse',
};

/**
 * Trust by owner and access list: only SYSTEM, administrators, TrustedInstaller and the account of this process may write. Links,
 * junctions and mount points are refused in any case. Paths may have either separator, and must begin with the letter of a drive.
 */
export function windowsFileTrust(): FileTrust {
  return {
    distrustOfFile: (file) =>
      translated('inspect', file, () => distrustOfFile(path.win32.resolve(file))),
    distrustOfFolder: (folder) =>
      translated('inspect', folder, () => distrustOfFolder(path.win32.resolve(folder))),
    distrustOfPrivateFolder: (folder) =>
      translated('inspect', folder, () => distrustOfPrivateFolder(folder)),
    ensurePrivateFolder: (folder) => {
      const distrust = translated('make the folder', folder, () => makePrivateFolder(folder));
      if (distrust !== undefined) throw distrusted('keep private files in', folder, distrust);
    },
  };
}

function translated<T>(tried: string, place: string, act: () => T): T {
  const failure = (code: TrustedFileErrorCode, found: string, cause: Error): TrustedFileError =>
    new TrustedFileError(code, tried, place, found, { cause });
  try {
    return act();
  } catch (error) {
    if (error instanceof TextError) throw failure('unknown', error.message, error);
    if (!(error instanceof WindowsError)) throw fileSystemError(error, tried, place);
    const { functionName, errorNumber, symbol } = error;
    const found = functionName
      ? `${functionName} failed with ${symbol ?? `error ${errorNumber ?? 0}`}`
      : error.message;
    throw failure(CODES[error.code] ?? 'unknown', found, error);
  }
}
