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
import { fileError, type Effects } from '../effects.js';

export interface ProgramContent extends Omit<ProgramIdentity, 'version'> {
  readonly format: ProgramFormat;
}

const ALGORITHMS = ['sha256', 'sha1'] as const;
const MAX_BYTES = 2 * 1024 ** 3;
const REFUSALS: readonly TrustedFileErrorCode[] = ['notRegularFile', 'tooLarge'];
/** Lets everyone run the program. Has no effect on Windows, where the moved program keeps the private folder's access list. */
const MODE = 0o755;

/** Undefined for a missing file. @throws UpgradeError `fileFailed`; `refused` if it is no regular file or over 2 GiB. */
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
 * Copies the program `file` to `copy`. If `signed` is given, it receives each copied block.
 * @throws UpgradeError `fileFailed`; `refused` if `file` is no regular file or over 2 GiB.
 */
export async function copyProgram(
  effects: Effects,
  what: string,
  file: string,
  copy: string,
  signed?: SignedProgram,
): Promise<ProgramContent> {
  const action = async (): Promise<ProgramContent> => {
    const header = new Header();
    const pending = await copyPendingFile(file, copy, {
      algorithms: ALGORITHMS,
      maxBytes: MAX_BYTES,
      mode: MODE,
      followLinks: true,
      onBlock: async (block, position) => {
        await header.take(block, position);
        await signed?.take(block, position);
      },
    });
    await pending.place();
    return { ...pending.digests, format: header.format };
  };
  return effects.onFile(`copy ${what}`, 'copy the program', file, action, REFUSALS);
}

class Header {
  #bytes = Buffer.alloc(0);

  readonly take: OnBlock = (block, position) => {
    if (position === 0) this.#bytes = Buffer.from(block.subarray(0, HEADER_BYTES));
  };

  get format(): ProgramFormat {
    return programFormat(this.#bytes);
  }
}
