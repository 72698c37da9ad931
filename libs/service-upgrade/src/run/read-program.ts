import {
  copyPendingFile,
  hashFile,
  TrustedFileError,
  type OnBlock,
  type TrustedFileErrorCode,
} from '@wins/trusted-files';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';
import { HEADER_BYTES, programFormat, type ProgramFormat } from '../plan/program-format.js';
import type { SignedProgram } from '../signature/signed-program.js';
import { fileError, type Effects } from './effects.js';

/** Facts from reading a program. */
export interface ProgramContent extends Omit<ProgramIdentity, 'version'> {
  readonly format: ProgramFormat;
}

const ALGORITHMS = ['sha256', 'sha1'] as const;
const MAX_BYTES = 2 * 1024 ** 3;
const REFUSALS: readonly TrustedFileErrorCode[] = ['notRegularFile', 'tooLarge'];
/** Ours to write, everyone's to run. On Windows a program has the access list of the private folder, also when it is in place. */
const MODE = 0o755;

/**
 * Reads a program whole and says what it is.
 *
 * @returns Undefined when there is no such file.
 * @throws UpgradeError `fileFailed`; `refused` for what is no regular file or has more than 2 GiB.
 */
export async function readProgram(file: string): Promise<ProgramContent | undefined> {
  const header = new Header();
  const options = { maxBytes: MAX_BYTES, followLinks: true, onBlock: header.take };
  try {
    const digests = await hashFile(file, ALGORITHMS, options);
    return { ...digests, format: header.format };
  } catch (error) {
    if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
    throw fileError('read the program', file, error, REFUSALS);
  }
}

/**
 * Copies a program, durably, and says what the copy is: the digests are of the bytes that were written, whatever happens to the
 * source.
 *
 * @param signed - Takes the bytes that are written, too.
 * @throws UpgradeError as {@link readProgram}; `fileFailed` when the source does not exist.
 */
export async function copyProgram(
  effects: Effects,
  what: string,
  file: string,
  copy: string,
  signed?: SignedProgram,
): Promise<ProgramContent> {
  const act = async (): Promise<ProgramContent> => {
    const header = new Header();
    const pending = await copyPendingFile(file, copy, {
      ...{ algorithms: ALGORITHMS, maxBytes: MAX_BYTES, mode: MODE, followLinks: true },
      onBlock: async (block, position) => {
        await header.take(block, position);
        await signed?.take(block, position);
      },
    });
    await pending.place();
    return { ...pending.digests, format: header.format };
  };
  return effects.onFile(`copy ${what}`, 'copy the program', file, act, REFUSALS);
}

/** Keeps the first bytes of a program, by which its format is known. */
class Header {
  #bytes = Buffer.alloc(0);

  readonly take: OnBlock = (block, position) => {
    if (position === 0) this.#bytes = Buffer.from(block.subarray(0, HEADER_BYTES));
  };

  get format(): ProgramFormat {
    return programFormat(this.#bytes);
  }
}
