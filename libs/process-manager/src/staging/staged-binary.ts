import { ProcessError, fileError } from '../process-error.js';
import {
  type DigestAlgorithm,
  type Digests,
  copyPendingFile,
  hashFile,
  type OnBlock,
  openRegularFile,
  type OpenFile,
  removeLeftovers,
} from '@wins/trusted-files';
import { quoteText, type FileHold, errnoOf } from '@wins/base';
import { randomBytes } from 'node:crypto';
import path from 'node:path';

/** The digest that a client saw, in the strongest algorithm that it sent; lower-case hexadecimal. */
export interface ExpectedDigest {
  readonly algorithm: 'sha1' | 'sha256';
  readonly hex: string;
}

/**
 * Takes the stronger of the digests that a client sent. An empty text counts as not sent.
 *
 * @throws ProcessError `invalidArgument` when there is none or when one is malformed.
 */
export function expectedDigest(sha1 = '', sha256 = ''): ExpectedDigest {
  if (sha256 !== '' && !/^[0-9a-f]{64}$/i.test(sha256)) throw malformed('SHA-256', 64);
  if (sha1 !== '' && !/^[0-9a-f]{40}$/i.test(sha1)) throw malformed('SHA-1', 40);
  if (sha256 !== '') return { algorithm: 'sha256', hex: sha256.toLowerCase() };
  if (sha1 !== '') return { algorithm: 'sha1', hex: sha1.toLowerCase() };
  throw new ProcessError(
    'invalidArgument',
    'cannot verify the executable: the request has no checksum; wanted SHA-256 or SHA-1',
  );
}

function malformed(name: string, digits: number): ProcessError {
  return new ProcessError(
    'invalidArgument',
    `cannot verify the executable: the ${name} checksum is malformed; wanted ${digits} hexadecimal digits`,
  );
}

/** Which bytes a program must have. */
interface WantedBytes {
  readonly source: string;
  /** Undefined allows any content. */
  readonly expected: ExpectedDigest | undefined;
  /** The only SHA-256 digests that may run; undefined allows any content. */
  readonly pins: readonly string[] | undefined;
}

/**
 * The bytes of a program must be those that the client saw, and those that the entry pins.
 *
 * @throws ProcessError `checksumMismatch`, `digestNotPinned`.
 */
export function requireBytes(
  digests: Digests<'sha256'> & Partial<Digests<DigestAlgorithm>>,
  { source, expected, pins }: WantedBytes,
): void {
  const found = expected && digests[expected.algorithm];
  if (found !== expected?.hex) {
    throw new ProcessError(
      'checksumMismatch',
      `cannot run ${quoteText(source)}: the host's file has ${expected?.algorithm} ${found}, the client's has ${expected?.hex}; wanted the same file on both sides`,
      { path: source, rule: 'A16 checksum differs' },
    );
  }
  const { sha256 } = digests;
  if (pins !== undefined && !pins.some((pin) => pin.toLowerCase() === sha256)) {
    throw new ProcessError(
      'digestNotPinned',
      `cannot run ${quoteText(source)}: its sha256 ${sha256} is not among the ${pins.length} pinned for this path. If the file is legitimate, add it to "sha256" of its entry`,
      { path: source, rule: 'A17 digest not pinned' },
    );
  }
}

/**
 * The program must be signed, if that is wanted of its entry.
 *
 * @throws ProcessError `notSigned`, once the copy is discarded.
 */
async function requireSignature(
  { source, signedBy }: StagingRequest,
  signature: SignatureReader | undefined,
  discard: () => Promise<void>,
): Promise<void> {
  if (signedBy === undefined) return;
  const found =
    signature === undefined
      ? 'this host cannot verify signatures'
      : await signature.refuse(signedBy);
  if (found === undefined) return;
  await discard();
  throw new ProcessError('notSigned', `cannot run ${quoteText(source)}: ${found}`, {
    ...{ path: source, rule: 'A17 not signed' },
  });
}

/** Where files can be held, a reader of the earlier copy, such as a virus scanner, holds it for a moment. */
const HELD_FILE_MS = 320;

/** The largest executable that is copied: 2 GiB; a larger one is refused with `stagingFailed`. */
export const MAX_EXECUTABLE_BYTES = 2 * 1024 * 1024 * 1024;

/** Reads the signature of one program. */
export interface SignatureReader {
  /** Takes the blocks of the copy, in order. */
  readonly take: OnBlock;
  /** Says why none of these certificates, by SHA-256, has signed the program; undefined when one has. */
  refuse(signedBy: readonly string[]): Promise<string | undefined>;
}

/** Source, target and expected bytes of a copy. */
export interface StagingRequest extends WantedBytes {
  /** The final name, in the same directory as `source`. */
  readonly target: string;
  readonly maxBytes: number;
  /** Called between blocks; what it throws ends the copy and nothing is left. */
  readonly checkpoint: () => void;
  /** The certificates, one of which must have signed the program; undefined for any program. */
  readonly signedBy?: readonly string[] | undefined;
  readonly readSignature?: (() => SignatureReader) | undefined;
  /** Holds the copy against changes, where the host can. */
  readonly hold?: ((path: string) => Promise<FileHold>) | undefined;
}

/** A copy that was verified and has only a temporary name yet, so that any number of starts can have one of a program. */
interface VerifiedCopy {
  /** Digest of its bytes, lower-case hexadecimal. */
  readonly sha256: string;
  /**
   * Gives the copy its final name. Once, by the one start that may use that name.
   *
   * @throws ProcessError `stagingFailed`, or what `checkpoint` throws; the temporary file is gone then.
   */
  place(): Promise<StagedBinary>;
  /** Removes the temporary file; nothing when the copy was placed. Idempotent, never throws. */
  discard(): Promise<void>;
}

/** A verified copy under its final name. Where the host can, it is held: no one changes it until it is closed. */
export interface StagedBinary extends FileHold {
  /** Digest of the bytes that will run, lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Copies an executable beside itself and tells the SHA-256 of the bytes that were written, which
 * are the bytes that will run: the source may change meanwhile without any effect. The copy is
 * complete, verified and on disk before it can get its final name (mode 0700), so that a crash never
 * leaves half a program under that name. What a crash left under a temporary name is removed first.
 *
 * Where a file can be held, the copy is held under its final name and then read once more: what ran in between could
 * have changed it, and nothing can from then on. The caller places or discards the copy, and closes what was placed once it runs.
 *
 * @throws ProcessError `notFound`, `pathNotTrusted`, `checksumMismatch`, `digestNotPinned`,
 * `notSigned`, `stagingFailed`, or what `checkpoint` throws; the temporary file is gone then.
 */
export async function copyVerified(request: StagingRequest): Promise<VerifiedCopy> {
  const { source, target, expected, maxBytes, checkpoint } = request;
  await removeStagingLeftovers(target);
  checkpoint();
  const suffix = `${process.pid}-${randomBytes(8).toString('hex')}.tmp`;
  const original = await opened(source);
  const signature = request.signedBy && request.readSignature?.();
  try {
    const algorithms: readonly DigestAlgorithm[] =
      expected?.algorithm === 'sha1' ? ['sha256', 'sha1'] : ['sha256'];
    const copy = await copyPendingFile(original, target, {
      ...{ algorithms, maxBytes, mode: 0o700 },
      onBlock: (block, position) => {
        checkpoint();
        return signature?.take(block, position);
      },
      // By this name its writer can be recognised.
      temporary: path.join(path.dirname(target), `.${path.basename(target)}.${suffix}`),
      accept: (digests) => requireBytes(digests, request),
    });
    await requireSignature(request, signature, () => copy.discard());
    const place = async (): Promise<StagedBinary> => {
      const heldFileMs = request.hold === undefined ? 0 : HELD_FILE_MS;
      try {
        // Nothing needs the copy after a loss of power: each start makes its own.
        await copy.place({ heldFileMs, beforeRename: checkpoint, isDurable: false });
      } catch (error) {
        throw failed(error, target);
      }
      return held(request, copy.digests.sha256);
    };
    return { sha256: copy.digests.sha256, place, discard: () => copy.discard() };
  } catch (error) {
    throw failed(error, target);
  } finally {
    await original.handle.close();
  }
}

async function opened(source: string): Promise<OpenFile> {
  try {
    return await openRegularFile(source);
  } catch (error) {
    throw fileError(error, 'cannot open', source, 'stagingFailed');
  }
}

async function held(request: StagingRequest, sha256: string): Promise<StagedBinary> {
  const { target, hold, maxBytes, checkpoint } = request;
  if (hold === undefined) return { sha256, close: () => undefined };
  const file = await hold(target);
  try {
    const found = await hashFile(target, ['sha256'], { maxBytes, onBlock: checkpoint });
    if (found.sha256 === sha256) return { sha256, close: () => file.close() };
    throw new ProcessError(
      'stagingFailed',
      `cannot run ${quoteText(target)}: the copy was changed after it was written; its sha256 is ${found.sha256}, wanted ${sha256}`,
      { path: target, rule: 'A16 copy changed' },
    );
  } catch (error) {
    file.close();
    throw failed(error, target);
  }
}

function failed(error: unknown, target: string): ProcessError {
  const translated = fileError(error, 'cannot write the verified copy', target, 'stagingFailed');
  if (error instanceof ProcessError || translated.code === 'stagingFailed') return translated;
  const { message, cause } = translated;
  return new ProcessError('stagingFailed', message, { cause, path: target });
}

/**
 * Removes the temporary files that a crash left on the way to `target`: regular files of exactly
 * our pattern whose writer no longer runs. Failures are ignored, because the copy that follows
 * meets and reports the same cause.
 */
async function removeStagingLeftovers(target: string): Promise<void> {
  const suffix = /^([1-9][0-9]{0,9})-[0-9a-f]{16}\.tmp$/;
  await removeLeftovers(
    target,
    suffix,
    ([, writer], { mtimeMs }) => !isWriting(Number(writer), mtimeMs),
  );
}

function isWriting(pid: number, writtenAtMs: number): boolean {
  if (pid === process.pid) {
    // In a container every daemon may have the same PID: what is older than we are is not ours.
    return writtenAtMs >= Date.now() - process.uptime() * 1000;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
