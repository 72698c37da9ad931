import { decodeHuffman, encodeHuffman } from './hpack-huffman.js';

const AUTHORITY = ':authority';
/** The place of `:authority` in the static table of HPACK. */
const AUTHORITY_INDEX = 1;

/** What came of one header block: left as it was, changed in place, or not readable as HPACK. */
export type HeaderBlockVerdict = 'clean' | 'rewritten' | 'malformed';

// `npipe:////./pipe/NAME`, where NAME is whatever the client's side of the mount is called.
const PIPE_URL = /^npipe:[\w%\-./=:&*,;!()'+$@~[\]]*$/;

/**
 * The authority that stands in for a pipe URL: as many bytes, and as many bits in Huffman code (`/` and `-` take 6, `:` and
 * `x` take 7, `@` and `~` take 13). Lengths and the table of the decoder stay as the sender believes them to be. The colon goes too, for what
 * follows it is no port, and the at sign, for what precedes it is no user.
 */
function standIn(value: string): string | undefined {
  if (!PIPE_URL.test(value) || !value.includes('/')) return undefined;
  return value.replaceAll('/', '-').replaceAll(':', 'x').replaceAll('@', '~');
}

class MalformedBlockError extends Error {}

class BlockReader {
  private position = 0;

  constructor(private readonly block: Buffer) {}

  get done(): boolean {
    return this.position >= this.block.length;
  }

  /** The next octet, not consumed. */
  peek(): number {
    const octet = this.block[this.position];
    if (octet === undefined) throw new MalformedBlockError();
    return octet;
  }

  /** An integer whose first octet has `prefixBits` bits for it (RFC 7541, 5.1). */
  integer(prefixBits: number): number {
    const limit = (1 << prefixBits) - 1;
    let value = this.peek() & limit;
    this.position++;
    if (value < limit) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const octet = this.peek();
      this.position++;
      value += (octet & 0x7f) << shift;
      if ((octet & 0x80) === 0) return value;
    }
    // More than 28 bits: no length or index of a block this small.
    throw new MalformedBlockError();
  }

  /** A string literal (RFC 7541, 5.2); `bytes` is a view of the block. */
  string(): { readonly huffman: boolean; readonly bytes: Buffer } {
    const huffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const end = this.position + length;
    if (end > this.block.length) throw new MalformedBlockError();
    const bytes = this.block.subarray(this.position, end);
    this.position = end;
    return { huffman, bytes };
  }
}

/** Reads one literal field; answers whether its value was replaced. */
function rewriteLiteral(reader: BlockReader, indexBits: number): boolean {
  const index = reader.integer(indexBits);
  let isAuthority = index === AUTHORITY_INDEX;
  if (index === 0) {
    const { huffman, bytes } = reader.string();
    isAuthority = (huffman ? decodeHuffman(bytes) : bytes.toString('latin1')) === AUTHORITY;
  }
  const { huffman, bytes } = reader.string();
  if (!isAuthority) return false;
  const value = huffman ? decodeHuffman(bytes) : bytes.toString('latin1');
  const replacement = value === undefined ? undefined : standIn(value);
  if (replacement === undefined) return false;
  const coded = huffman ? encodeHuffman(replacement) : Buffer.from(replacement, 'latin1');
  if (coded?.length !== bytes.length) return false;
  coded.copy(bytes);
  return true;
}

/**
 * Replaces, in place, a pipe URL that an HPACK header block gives as the literal value of `:authority`. Nothing else is
 * touched, and the length stays. A `:authority` that refers to a table entry needs no change: the entry came from a literal
 * that was seen here. No state is kept, so a name that refers to the dynamic table is not recognised; grpc-go refers to
 * the static table.
 */
export function rewriteHeaderBlock(block: Buffer): HeaderBlockVerdict {
  const reader = new BlockReader(block);
  let rewritten = false;
  try {
    while (!reader.done) {
      const first = reader.peek();
      if ((first & 0x80) !== 0) reader.integer(7);
      else if ((first & 0x40) !== 0) rewritten = rewriteLiteral(reader, 6) || rewritten;
      else if ((first & 0x20) !== 0) reader.integer(5);
      else rewritten = rewriteLiteral(reader, 4) || rewritten;
    }
  } catch (error) {
    if (error instanceof MalformedBlockError) return 'malformed';
    throw error;
  }
  return rewritten ? 'rewritten' : 'clean';
}
