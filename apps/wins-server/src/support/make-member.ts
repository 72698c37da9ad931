import { messageOf } from '@wins/base';

export interface SupportMember {
  /** Its name in the archive, with the ending that says what it is. */
  readonly name: string;
  /** Limit in bytes; a larger text is cut at its beginning, because the newest is last. */
  readonly maxBytes: number;
  /** Makes the text; an error that it throws becomes a text member of its own. */
  readonly make: () => Promise<string>;
}

export interface MadeMember {
  readonly name: string;
  readonly content: Buffer;
  /** Whether its beginning was cut off. */
  readonly isCut: boolean;
  /** Whether the content says why there is none. */
  readonly isFailure: boolean;
}

/** One that takes longer has failed. */
const LONGEST_MS = 60_000;
const CUT_LINE = '(the beginning was cut off)\n';

/** Makes a member. Never rejects: one that fails, or takes a minute, has the reason as its text. */
export async function makeMember(
  { name, maxBytes, make }: SupportMember,
  clean: (text: string) => string,
): Promise<MadeMember> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`cannot collect ${name}: not done after ${LONGEST_MS / 1000} s`);
    timer = setTimeout(() => reject(error), LONGEST_MS);
  });
  try {
    const text = await Promise.race([make(), late]);
    return { name, ...bounded(clean(text), maxBytes), isFailure: false };
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
  // Whole lines only; what has none is cut anywhere.
  const end = tail.indexOf(0x0a);
  return { content: Buffer.concat([Buffer.from(CUT_LINE), tail.subarray(end + 1)]), isCut: true };
}
