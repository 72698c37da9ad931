import fc from 'fast-check';
import {
  compileFilter,
  filterText,
  readFilter,
  type FilterHook,
  type FilterInstruction,
} from './container-filter.js';

const OWN = '10.42.1.0/24';
const NETWORKS = [OWN, '10.42.0.0/16', '10.99.7.0/24'];
const [ARP, IPV4, IPV6] = [0x0806, 0x0800, 0x86dd];

function frame(type: number, source: string, destination: string): DataView {
  const view = new DataView(new ArrayBuffer(64));
  view.setUint16(12, type);
  for (const [offset, address] of [
    [26, source],
    [30, destination],
  ] as const)
    for (const [index, octet] of address.split('.').entries())
      view.setUint8(offset + index, Number(octet));
  return view;
}

/** Runs a filter program as the kernel does. */
function passes(code: readonly FilterInstruction[], view: DataView): boolean {
  let accumulator = 0;
  for (let at = 0; at < code.length; at += 1) {
    const { code: op, jt, jf, k } = code[at] ?? { code: 0, jt: 0, jf: 0, k: 0 };
    if (op === 0x28) accumulator = view.getUint16(k);
    else if (op === 0x20) accumulator = view.getUint32(k);
    else if (op === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (op === 0x15) at += accumulator === k ? jt : jf;
    else if (op === 0x06) return k === 0;
    else throw new Error(`no instruction ${op}`);
  }
  throw new Error('it ran over its end');
}

const compiled = (hook: FilterHook, networks: readonly string[] = NETWORKS) =>
  compileFilter(networks, hook) ?? [];

describe('the filter of containers', () => {
  it.each<[string, number, string, string, boolean]>([
    ['each other', IPV4, '10.42.1.10', '10.42.1.11', true],
    ['their gateway', IPV4, '10.42.1.10', '10.42.1.1', true],
    ['a container of another host', IPV4, '10.42.1.10', '10.42.2.10', true],
    ['a second network of the cluster', IPV4, '10.42.1.10', '10.99.7.1', true],
    ['the metadata service of Rancher', IPV4, '10.42.1.10', '169.254.169.250', true],
    ['its DNS', IPV4, '10.42.1.10', '169.254.169.251', true],
    ['the metadata of a cloud', IPV4, '10.42.1.10', '169.254.169.254', false],
    ['what is before the metadata service', IPV4, '10.42.1.10', '169.254.169.249', false],
    ['another address of the host', IPV4, '10.42.1.10', '192.0.2.2', false],
    ['the world', IPV4, '10.42.1.10', '8.8.8.8', false],
    ['all hosts', IPV4, '10.42.1.10', '255.255.255.255', false],
    ['a peer, in the name of another', IPV4, '10.42.2.10', '10.42.2.11', false],
    ['a peer, in the name of the host', IPV4, '192.0.2.2', '10.42.2.11', false],
    ['neighbours by ARP', ARP, '0.0.0.0', '0.0.0.0', true],
    ['the host by IPv6', IPV6, '10.42.1.10', '10.42.1.1', false],
    ['anything by another protocol', 0x88cc, '10.42.1.10', '10.42.1.1', false],
  ])('decides whether packets to %s and their answers pass', (_what, type, from, to, isPassing) => {
    expect(passes(compiled('ingress'), frame(type, from, to))).toBe(isPassing);
    expect(passes(compiled('egress'), frame(type, to, from))).toBe(isPassing);
  });

  it('answers of the metadata service pass, wherever it runs', () => {
    const answer = frame(IPV4, '169.254.169.250', '10.42.1.1');
    expect(passes(compiled('ingress'), answer)).toBe(true);
  });

  it('is read back as what it was made of, and any other program as none', () => {
    const octet = fc.nat(255);
    const network = fc
      .tuple(octet, octet, fc.constantFrom(16, 24, 32))
      .map(([b, c, prefix]) => `10.${b}.${prefix === 16 ? 0 : c}.0/${prefix}`);
    const networks = fc.array(network, { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(networks, fc.constantFrom<FilterHook>('ingress', 'egress'), (given, hook) => {
        const code = compiled(hook, given);
        expect(readFilter(code, hook)).toEqual(given);
        const [first, ...rest] = code;
        expect(readFilter(rest, hook)).toBeUndefined();
        const other = { code: 0x06, jt: 0, jf: 0, k: 0 };
        expect(readFilter([other, ...rest], hook)).toBeUndefined();
        expect(first).toBeDefined();
      }),
    );
  });

  it.each([[[]], [['10.42.1.1/24']], [['10.42.1.0/24', '::/0']], [['a; reboot']], [['0.0.0.0/0']]])(
    'is not made of %j',
    (networks) => {
      expect(compileFilter(networks, 'ingress')).toBeUndefined();
    },
  );

  it('is given to tc as numbers alone', () => {
    expect(filterText(compiled('ingress'))).toMatch(/^[\d ,]+$/);
  });
});
