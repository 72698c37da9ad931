import { filtersOf } from './container-filters.js';
import { filterMemory } from './packet-filters.js';

const BASE = 0x10000n;
const ITEM = {
  ...({ kind: 'filter', key: 'wins-subnet ingress' } as const),
  value: '10.42.1.0/24 10.42.0.0/16',
};

const memoryOf = (index: number): Buffer => {
  const filter = filtersOf(ITEM, 12)?.[index];
  if (filter === undefined) throw new Error('no filter');
  return filterMemory(filter, () => BASE);
};
const pointer = (memory: Buffer, at: number): number => Number(memory.readBigUInt64LE(at) - BASE);
const textAt = (memory: Buffer, at: number): string =>
  memory.toString('utf16le', pointer(memory, at)).split('\0', 1)[0] ?? '';
const guidAt = (memory: Buffer, at: number): string => memory.toString('hex', at, at + 16);

describe('a filter in memory', () => {
  it('has the layer, the sublayer and the action where Windows reads them', () => {
    const permit = memoryOf(0);
    expect(textAt(permit, 16)).toBe('wins-subnet ingress');
    expect(textAt(permit, 24)).toBe('12 10.42.1.0/24 10.42.0.0/16');
    // FWPM_LAYER_IPFORWARD_V4, and our sublayer.
    expect(guidAt(permit, 64)).toBe('24cc2aa8e14ee14eb465fd1d25cb10a4');
    expect(guidAt(permit, 80)).toBe('527c3a6f0e0f5b4f9a0c5d1f6a8e2b42');
    // The weight is FWP_UINT8 with 15, the action FWP_ACTION_PERMIT. Flags, provider, data, context and id are zero.
    expect([permit.readUInt32LE(96), permit.readBigUInt64LE(104)]).toEqual([1, 15n]);
    expect(permit.readUInt32LE(128)).toBe(0x1002);
    expect(permit.subarray(32, 64).some(Boolean)).toBe(false);
    expect(permit.subarray(132, 200).some(Boolean)).toBe(false);
    const block = memoryOf(1);
    expect([block.readBigUInt64LE(104), block.readUInt32LE(128)]).toEqual([0n, 0x1001]);
    // FWPM_LAYER_INBOUND_IPPACKET_V4.
    expect(guidAt(memoryOf(2), 64)).toBe('bfd16fc8cd217e49a0bb17425c885c58');
  });

  it('has its conditions as a list, with networks by address and mask in the order of the host', () => {
    const memory = memoryOf(0);
    const count = memory.readUInt32LE(112);
    const first = pointer(memory, 120);
    const conditions = Array.from({ length: count }, (_, index) => {
      const at = first + 40 * index;
      const match = memory.readUInt32LE(at + 16);
      const type = memory.readUInt32LE(at + 24);
      if (type === 3) return [guidAt(memory, at), match, memory.readBigUInt64LE(at + 32)];
      const range = pointer(memory, at + 32);
      const words = [memory.readUInt32LE(range), memory.readUInt32LE(range + 4)];
      return [guidAt(memory, at), match, type, ...words.map((word) => word.toString(16))];
    });
    const [source, destination] = ['7e8996ae942ec94bb313b27ee80e574d'].concat(
      '3b13792d90b3c6458699acaceaafed33',
    );
    expect(conditions).toEqual([
      ['4d3311232dc9bf459496edf447820e2d', 0, 12n],
      [source, 0, 256, 'a2a0100', 'ffffff00'],
      [source, 0, 256, 'a9fea9fa', 'fffffffe'],
      [destination, 0, 256, 'a2a0000', 'ffff0000'],
      [destination, 0, 256, 'a9fea9fa', 'fffffffe'],
    ]);
    expect(memory.length).toBeGreaterThan(first + 48 * count);
  });
});
