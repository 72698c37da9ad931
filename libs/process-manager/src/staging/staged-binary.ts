import { ProcessError, fileError } from '../process-error.js';
import {
  copyPendingFile,
  hashFile,
  openRegularFile,
  removeLeftovers,
  type DigestAlgorithm,
  type Digests,
  type OnBlock,
  type OpenFile,
} from '@wins/trusted-files';
import { quoteText, type FileHold, errnoOf, type SignerRule } from '@wins/base';
import { randomBytes } from 'node:crypto';
import path from 'node:path';

/** The strongest digest that the client sent, in lower-case hexadecimal. */
export interface ExpectedDigest {
  readonly algorithm: 'sha1' | 'sha256';
  readonly hex: string;
}

/**
 * Returns the stronger digest; an empty text counts as absent.
 *
 * @throws ProcessError `invalidArgument` when both are absent or one is malformed.
 */
export function expectedDigest(sha1 = '', sha256 = ''): ExpectedDigest {
  const malformed = (name: string, digits: number): ProcessError =>
    unverifiable(`the ${name} checksum is malformed; wanted ${digits} hexadecimal digits`);
  if (sha256 !== '' && !/^[0-9a-f]{64}$/i.test(sha256)) throw malformed('SHA-256', 64);
  if (sha1 !== '' && !/^[0-9a-f]{40}$/i.test(sha1)) throw malformed('SHA-1', 40);
  if (sha256 !== '') return { algorithm: 'sha256', hex: sha256.toLowerCase() };
  if (sha1 !== '') return { algorithm: 'sha1', hex: sha1.toLowerCase() };
  throw unverifiable('the request has no checksum; wanted SHA-256 or SHA-1');
}

function unverifiable(found: string): ProcessError {
  return new ProcessError('invalidArgument', `cannot verify the executable: ${found}`);
}

interface WantedBytes {
  readonly source: string;
  /** Undefined allows any content. */
  readonly expected: ExpectedDigest | undefined;
  /** The only SHA-256 digests that may run; undefined allows any content. */
  readonly pins: readonly string[] | undefined;
}

/** @throws ProcessError `checksumMismatch`, `digestNotPinned`. */
function requireBytes(
  digests: Digests<'sha256'> & Partial<Digests<DigestAlgorithm>>,
  { source, expected, pins }: WantedBytes,
): void {
  const tried = `cannot run ${quoteText(source)}`;
  const found = expected && digests[expected.algorithm];
  if (found !== expected?.hex) {
    const message = `${tried}: the host's file has ${expected?.algorithm} ${found}, the client's has ${expected?.hex}; wanted the same file on both sides`;
    const facts = { path: source, rule: 'A16 checksum differs' } as const;
    throw new ProcessError('checksumMismatch', message, facts);
  }
  const { sha256 } = digests;
  if (pins !== undefined && !pins.some((pin) => pin.toLowerCase() === sha256)) {
    const message = `${tried}: its sha256 ${sha256} is not among the ${pins.length} pinned for this path. If the file is legitimate, add it to "sha256" of its entry`;
    const facts = { path: source, rule: 'A17 digest not pinned' } as const;
    throw new ProcessError('digestNotPinned', message, facts);
  }
}

/** Reads an executable, whose bytes must be the wanted ones. @throws ProcessError as {@link copyVerified}, and the error of `checkpoint`. */
export async function verifyBytes(wanted: WantedBytes, checkpoint?: () => void): Promise<void> {
  const { source, expected } = wanted;
  const digests = await hashFile(source, algorithmsFor(expected), {
    maxBytes: MAX_EXECUTABLE_BYTES,
    onBlock: checkpoint,
  }).catch((error: unknown) => {
    throw fileError(error, 'cannot read', source, 'stagingFailed');
  });
  requireBytes(digests, wanted);
}

function algorithmsFor(
  expected: ExpectedDigest | undefined,
): readonly ('sha256' | ExpectedDigest['algorithm'])[] {
  return expected?.algorithm === 'sha1' ? ['sha256', 'sha1'] : ['sha256'];
}

/** @throws ProcessError `notSigned`, after discarding the copy. */
async function requireSignature(
  { source, signerRule }: StagingRequest,
  signature: SignatureReader | undefined,
  discard: () => Promise<void>,
): Promise<void> {
  if (signerRule === undefined) return;
  const found = signature
    ? await signature.refuse(signerRule)
    : 'this host cannot verify signatures';
  if (found === undefined) return;
  await discard();
  const facts = { path: source, rule: 'A17 not signed' } as const;
  throw new ProcessError('notSigned', `cannot run ${quoteText(source)}: ${found}`, facts);
}

/** Marks the temporary files of this process. Its PID alone does not, because in containers every daemon may have the same PID. */
const OWN_MARK = randomBytes(4).toString('hex');

/** Maximum time to retry the rename, in milliseconds. On Windows a virus scanner may briefly keep the previous copy open. */
const HELD_FILE_MS = 320;

/** Maximum size of an executable: 2 GiB; a larger one is refused with `stagingFailed`. */
export const MAX_EXECUTABLE_BYTES = 2 * 1024 * 1024 * 1024;

/** Verifies the signature of a program while it is copied, so that exactly the copied bytes are judged. */
export interface SignatureReader {
  /** Receives the blocks of the copy, in order. */
  readonly take: OnBlock;
  /** Returns the reason to refuse the program, or undefined if it is signed as the rule demands. */
  refuse(rule: SignerRule): Promise<string | undefined>;
}

export interface StagingRequest extends WantedBytes {
  /** The final name, in the same directory as `source`. */
  readonly target: string;
  readonly maxBytes: number;
  /** Called between blocks; an exception aborts the copy and leaves no file. */
  readonly checkpoint: () => void;
  /** Undefined when no signature is needed. */
  readonly signerRule?: SignerRule | undefined;
  readonly readSignature?: (() => SignatureReader) | undefined;
  /** Prevents changes to the copy; undefined on hosts that cannot. */
  readonly hold?: ((path: string) => Promise<Pick<FileHold, 'close'>>) | undefined;
}

/** A verified copy under a temporary name, because several starts may copy one program at once. */
interface VerifiedCopy {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /**
   * Gives the copy its final name. Call once, after the run's name has been reserved.
   *
   * @throws ProcessError `stagingFailed`, or the error of `checkpoint`; removes the temporary file then.
   */
  place(): Promise<StagedBinary>;
  /** Does nothing after `place`. Idempotent, never throws. */
  discard(): Promise<void>;
}

/** A verified copy under its final name. If the request has `hold`, nobody can change the copy before `close`. */
export interface StagedBinary extends Pick<FileHold, 'close'> {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Copies an executable beside itself and hashes the written bytes, so that later changes of the source have no
 * effect. Only a complete and verified copy gets the final name, so that a crash leaves no incomplete program. A loss of
 * power may leave one, which no start uses.
 *
 * If the request has `hold`, `place` uses it to prevent further changes to the copy. `place` then hashes the copy
 * again, because a process could have changed the copy before the hold began.
 *
 * The caller places or discards the copy, and closes a placed copy once the program runs.
 *
 * @throws ProcessError `notFound`, `pathNotTrusted`, `checksumMismatch`, `digestNotPinned`, `notSigned`,
 * `stagingFailed`, or the error of `checkpoint`; removes the temporary file then.
 */
export async function copyVerified(request: StagingRequest): Promise<VerifiedCopy> {
  const { source, target, expected, maxBytes, checkpoint } = request;
  await removeStagingLeftovers(target);
  checkpoint();
  const suffix = `${process.pid}-${OWN_MARK}${randomBytes(4).toString('hex')}.tmp`;
  const original = await opened(source);
  const signature = request.signerRule && request.readSignature?.();
  try {
    const copy = await copyPendingFile(original, target, {
      algorithms: algorithmsFor(expected),
      maxBytes,
      mode: 0o700,
      // Each start makes its own copy, so none has to survive a loss of power.
      isFlushed: false,
      onBlock: (block, position) => {
        checkpoint();
        return signature?.take(block, position);
      },
      // The name contains the writer's PID, so that leftovers can be recognised.
      temporary: path.join(path.dirname(target), `.${path.basename(target)}.${suffix}`),
      accept: (digests) => requireBytes(digests, request),
    });
    await requireSignature(request, signature, () => copy.discard());
    const place = async (): Promise<StagedBinary> => {
      const heldFileMs = request.hold === undefined ? 0 : HELD_FILE_MS;
      try {
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
    const message = `cannot run ${quoteText(target)}: the copy was changed after it was written; its sha256 is ${found.sha256}, wanted ${sha256}`;
    const facts = { path: target, rule: 'A16 copy changed' } as const;
    throw new ProcessError('stagingFailed', message, facts);
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

/** Removes files whose writer no longer runs. Ignores failures, because the copy that follows reports the same cause. */
async function removeStagingLeftovers(target: string): Promise<void> {
  const suffix = /^([1-9][0-9]{0,9})-([0-9a-f]{8})[0-9a-f]{8}\.tmp$/;
  await removeLeftovers(target, suffix, ([, pid, mark]) => !isWriting(Number(pid), mark));
}

function isWriting(pid: number, mark: string | undefined): boolean {
  if (pid === process.pid) return mark === OWN_MARK;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
