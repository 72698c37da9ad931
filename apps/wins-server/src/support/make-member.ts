import { messageOf } from '@wins/base';

export interface SupportMember {
  readonly name: string;
  /** A longer text loses its beginning, because the newest part is last. */
  readonly maxBytes: number;
  /** True if `make` removes secrets itself, because a word of its format could be one. Default: false. */
  readonly isClean?: boolean;
  readonly make: () => Promise<string>;
}

export interface MadeMember {
  readonly name: string;
  readonly content: Buffer;
  readonly isCut: boolean;
  /** Whether the content is an error message. */
  readonly isFailure: boolean;
}

const LONGEST_MS = 60_000;
const CUT_LINE = '(the beginning was cut off)\n';

/** Never rejects. If `make` fails or times out, the content is the error message. */
export async function makeMember(
  { name, maxBytes, isClean = false, make }: SupportMember,
  clean: (text: string) => string,
): Promise<MadeMember> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`cannot collect ${name}: not done after ${LONGEST_MS / 1000} s`);
    timer = setTimeout(() => reject(error), LONGEST_MS);
  });
  try {
    const text = await Promise.race([make(), late]);
    return { name, ...bounded(isClean ? text : clean(text), maxBytes), isFailure: false };
  } catch (error) {
    const content = Buffer.from(clean(`${messageOf(error)}\n`));
    return { name: `${name}.error.txt`, content, isCut: false, isFailure: true };
  } finally {
    clearTimeout(timer);
  }
}

function bounded(text: string, maxBytes: number): Pick<MadeMember, 'content' | 'isCut'> {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { content: bytes, isCut: false };
  const tail = bytes.subarray(bytes.length - maxBytes + CUT_LINE.length);
  // Cuts at a line end, if there is one.
  const end = tail.indexOf(0x0a);
  return { content: Buffer.concat([Buffer.from(CUT_LINE), tail.subarray(end + 1)]), isCut: true };
}
