import { containerLimits, formatAddress } from '@wins/base';
import { isDeepStrictEqual } from 'node:util';

/** An instruction of classic BPF, as `tc` prints it. */
export interface FilterInstruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** Direction seen from the bridge. `ingress`: packets that containers send. `egress`: packets that they receive. */
export type FilterHook = 'ingress' | 'egress';

/** Opcodes of linux/bpf_common.h: load a half-word and a word of the packet, AND, jump if equal, return. */
const [LOAD_HALF, LOAD_WORD, AND, JUMP_EQUAL, RETURN] = [0x28, 0x20, 0x54, 0x15, 0x06] as const;
const ETHER_TYPE = 12;
const [ARP, IPV4] = [0x0806, 0x0800] as const;
const [SOURCE, DESTINATION] = [26, 30] as const;
/** TC_ACT_OK and TC_ACT_SHOT of linux/pkt_cls.h. */
const [PASS, DROP] = [0, 2] as const;

/**
 * Containers must use an address of their own network or Rancher's metadata address. They may exchange IPv4 packets only with these addresses
 * and `networks`, which may contain addresses of this host. ARP passes; everything else is dropped.
 *
 * @param networks - The containers' own network first.
 * @returns undefined when a text is not a network, or there are more than 16.
 */
export function compileFilter(
  networks: readonly string[],
  hook: FilterHook,
): readonly FilterInstruction[] | undefined {
  const limits = containerLimits(networks);
  if (limits === undefined) return undefined;
  const [near, away] = hook === 'ingress' ? [SOURCE, DESTINATION] : [DESTINATION, SOURCE];
  const sides = [
    { offset: near, ranges: limits.near },
    { offset: away, ranges: limits.away },
  ];
  const length = 3 + sides.reduce((sum, side) => sum + 3 * side.ranges.length + 1, 0) + 1;
  const passAt = length - 1;
  const code: FilterInstruction[] = [];
  const add = (opcode: number, k: number, jt = 0, jf = 0) => code.push({ code: opcode, jt, jf, k });
  add(LOAD_HALF, ETHER_TYPE);
  add(JUMP_EQUAL, ARP, passAt - 2, 0);
  // A packet other than IPv4 jumps to the first side's RETURN DROP. The jump skips that side's two ranges, three instructions each.
  add(JUMP_EQUAL, IPV4, 0, 3 * 2);
  for (const { offset, ranges: allowed } of sides) {
    const end = code.length + 3 * allowed.length + 1;
    for (const { mask, net } of allowed) {
      add(LOAD_WORD, offset);
      add(AND, mask);
      add(JUMP_EQUAL, net, end - code.length - 1, 0);
    }
    add(RETURN, DROP);
  }
  add(RETURN, PASS);
  return code;
}

/** Returns the networks of a program that `compileFilter` made; undefined for any other. */
export function readFilter(
  code: readonly FilterInstruction[],
  hook: FilterHook,
): readonly string[] | undefined {
  const networks = code.flatMap(({ code: opcode, k }, index) => {
    const before = code[index - 1];
    if (opcode !== JUMP_EQUAL || before?.code !== AND) return [];
    const bytes = Uint8Array.from([24, 16, 8, 0], (shift) => (k >>> shift) & 0xff);
    return [`${formatAddress(bytes)}/${32 - Math.round(Math.log2(2 ** 32 - before.k))}`];
  });
  const given = [networks[0] ?? '', ...networks.slice(2, -1)];
  return isDeepStrictEqual(compileFilter(given, hook), code) ? given : undefined;
}

/** Formats a filter as an argument of `tc`. */
export function filterText(code: readonly FilterInstruction[]): string {
  return [code.length, ...code.map(({ code: op, jt, jf, k }) => `${op} ${jt} ${jf} ${k}`)].join(
    ',',
  );
}
