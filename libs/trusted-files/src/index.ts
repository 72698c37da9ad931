/**
 * Checks who may write a file or folder, creates private folders, replaces files durably, and reads text, digests and
 * fingerprints.
 *
 * ```ts
 * const trust = posixFileTrust();
 * trust.ensurePrivateFolder('/var/lib/example');
 * await replaceFile('/var/lib/example/state.json', '{}');
 * const file = await openTrustedFile('/var/lib/example/state.json', trust);
 * console.log(await hashFile(file, ['sha256']));
 * await file.handle.close();
 * ```
 *
 * @packageDocumentation
 */
export { fileSystemError, foundIn } from './file-system-error.js';
export {
  decodeAnyway,
  decodeText,
  encodeText,
  WANTED_TEXT,
  withoutMark,
  type DecodedText,
  type TextEncoding,
  type UndecodableText,
} from './read/decode-text.js';
export { fileFingerprint, type FileFingerprint } from './read/file-fingerprint.js';
export {
  hashFile,
  type DigestAlgorithm,
  type Digests,
  type HashOptions,
  type OnBlock,
} from './read/hash-file.js';
export {
  openRegularFile,
  openTrustedFile,
  readWhole,
  type OpenFile,
  type ReadableFile,
  type ReadLimits,
} from './read/open-file.js';
export { readBytes, unlessNotFound, readText, type ReadOptions } from './read/read-bytes.js';
export type { Distrust, FileTrust, TrustOptions, TrustRule } from './trust/file-trust.js';
export {
  failing,
  hostPaths,
  type HostFailureCode,
  type HostFailureDetails,
  type HostPaths,
  type MakeHostFailure,
  type ProcessHostOptions,
} from './trust/host-paths.js';
export { posixFileTrust } from './trust/posix-file-trust.js';
export {
  distrusted,
  TrustedFileError,
  type TrustedFileErrorCode,
  type TrustedFileErrorDetails,
} from './trusted-file-error.js';
export { copyPendingFile, type CopyOptions, type PendingCopy } from './write/copy-file.js';
export {
  moveFile,
  writeNewPrivateFile,
  replaceFile,
  type ReplaceOptions,
} from './write/replace-file.js';
export {
  writePendingFile,
  type FileRights,
  type PendingFile,
  type PendingOptions,
  type PlaceOptions,
  type WriteAt,
} from './write/pending-file.js';
export { removeLeftovers } from './write/remove-leftovers.js';
export { syncFolder, isHeld, whenNotHeld } from './write/when-not-held.js';
