/**
 * Code length in bits of each octet, and finally of EOS, in the Huffman code of RFC 7541, appendix B. The lengths define the
 * code completely: codes of equal length count upwards in octet order.
 */
const CODE_BITS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const SHORTEST = 5;
const LONGEST = 30;
const EOS = 256;
/** State after the code of EOS. Decoding fails there, because a string must not contain EOS. */
const NOWHERE = 0xffff;
const NOTHING = 0xffff;

interface HuffmanTable {
  /** Next state, indexed by state and four bits of input. The shortest code has five bits, so a step yields at most one octet. */
  readonly next: Uint16Array;
  readonly octet: Uint16Array;
  /**
   * Indexed by state: 1 if a string may end in this state. The bits since the last complete code are then valid padding, which
   * is at most seven bits, all ones.
   */
  readonly mayEnd: Uint8Array;
}

/** Nodes are `[child after 0, child after 1]`; a leaf is `-1 - octet`. */
function codeTree(): [number, number][] {
  const tree: [number, number][] = [[0, 0]];
  let code = 0;
  for (let bits = SHORTEST; bits <= LONGEST; bits++) {
    for (let octet = 0; octet <= EOS; octet++) {
      if (CODE_BITS[octet] !== bits) continue;
      let state = 0;
      for (let bit = bits - 1; bit > 0; bit--) {
        const node = tree[state] as [number, number];
        const side = (code >> bit) & 1;
        if (node[side] === 0) node[side] = tree.push([0, 0]) - 1;
        state = node[side] as number;
      }
      (tree[state] as [number, number])[code & 1] = -1 - octet;
      code++;
    }
    code <<= 1;
  }
  return tree;
}

function buildTable(): HuffmanTable {
  const tree = codeTree();
  const table: HuffmanTable = {
    next: new Uint16Array(tree.length * 16),
    octet: new Uint16Array(tree.length * 16).fill(NOTHING),
    mayEnd: new Uint8Array(tree.length),
  };
  for (let state = 0; state < tree.length; state++) {
    for (let half = 0; half < 16; half++) {
      let at = state;
      for (let bit = 3; bit >= 0 && at !== NOWHERE; bit--) {
        const to = tree[at]?.[(half >> bit) & 1] ?? 0;
        if (to >= 0) at = to;
        else if (to === -1 - EOS) at = NOWHERE;
        else {
          table.octet[state * 16 + half] = -1 - to;
          at = 0;
        }
      }
      table.next[state * 16 + half] = at;
    }
  }
  for (let at = 0, bits = 0; bits < 8; bits++, at = tree[at]?.[1] ?? 0) table.mayEnd[at] = 1;
  return table;
}

/** Built lazily, for the first string that needs it. */
let table: HuffmanTable | undefined;

/** Takes linear time. Returns undefined for a string that encodes EOS, or whose padding is too long or not all ones. */
export function decodeHuffman(coded: Buffer): Buffer | undefined {
  const { next, octet, mayEnd } = (table ??= buildTable());
  const decoded = Buffer.allocUnsafe(Math.ceil((coded.length * 8) / SHORTEST));
  let length = 0;
  let state = 0;
  for (let at = 0; at < coded.length * 2; at++) {
    const pair = coded[at >> 1] as number;
    const step = state * 16 + (at % 2 === 0 ? pair >> 4 : pair & 15);
    state = next[step] as number;
    if (state === NOWHERE) return undefined;
    const out = octet[step] as number;
    if (out !== NOTHING) decoded[length++] = out;
  }
  return mayEnd[state] === 1 ? decoded.subarray(0, length) : undefined;
}
