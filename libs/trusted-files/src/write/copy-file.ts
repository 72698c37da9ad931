import type { ReadableFile } from '../read/open-file.js';
import type { TrustOptions } from '../trust/file-trust.js';
import {
  hashFile,
  type DigestAlgorithm,
  type Digests,
  type HashOptions,
} from '../read/hash-file.js';
import {
  writePendingFile,
  type PendingFile,
  type PendingOptions,
  type WriteAt,
} from './pending-file.js';

/** Options of {@link copyPendingFile}. */
export interface CopyOptions<A extends DigestAlgorithm>
  extends HashOptions, PendingOptions, TrustOptions {
  readonly algorithms: readonly A[];
  /** Temporary path in the same folder. Default: a hidden random name. */
  readonly temporary?: string | undefined;
  /** Judges the digests of the written bytes. If it throws, the copy is discarded and the caller gets the error. */
  readonly accept?: ((digests: Digests<A>) => void) | undefined;
}

/** A copy that still has its temporary name. */
export interface PendingCopy<A extends DigestAlgorithm> extends PendingFile {
  /** Digests of the written bytes. Later changes of the source do not matter. */
  readonly digests: Digests<A>;
}

/**
 * Copies a file to a temporary path beside `target`. The caller places or discards the copy. The source is an open file, which stays open, or a
 * path as for `openRegularFile`.
 *
 * @throws TrustedFileError `tooLarge`, and as `writePendingFile` and `openRegularFile`; errors of `onBlock` and `accept`; the
 * reason of the signal. No copy remains after an error.
 */
export async function copyPendingFile<A extends DigestAlgorithm>(
  source: string | ReadableFile,
  target: string,
  {
    algorithms,
    temporary,
    accept,
    mode,
    owner,
    isFlushed,
    create,
    onBlock,
    ...limits
  }: CopyOptions<A>,
): Promise<PendingCopy<A>> {
  const rights = { mode, owner, isFlushed, create };
  let digests: Digests<A> | undefined;
  const fill = async (write: WriteAt): Promise<void> => {
    digests = await hashFile(source, algorithms, {
      ...limits,
      onBlock: async (block, position) => {
        await write(block, position);
        await onBlock?.(block, position);
      },
    });
    accept?.(digests);
  };
  const pending = await writePendingFile(target, rights, fill, temporary);
  return { ...pending, digests: digests as Digests<A> };
}
