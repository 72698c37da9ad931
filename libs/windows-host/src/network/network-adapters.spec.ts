import { decodeAdapters, readAdapters } from './network-adapters.js';
import { socketAddress } from './routes.js';

const BASE = 0x7ff0_0000_1000n;

class Memory {
  readonly bytes = Buffer.alloc(4096);
  #used = 0;

  place(size: number): number {
    const offset = this.#used;
    this.#used += size;
    return offset;
  }

  point(from: number, to: number): void {
    this.bytes.writeBigUInt64LE(BASE + BigInt(to), from);
  }

  text(from: number, text: string, encoding: 'latin1' | 'utf16le'): void {
    const bytes = Buffer.from(`${text}\0`, encoding);
    const offset = this.place(bytes.length);
    bytes.copy(this.bytes, offset);
    this.point(from, offset);
  }

  adapter(facts: { readonly index: number; readonly name: string; readonly up?: boolean }): number {
    const at = this.place(448);
    this.bytes.writeUInt32LE(facts.index, at + 4);
    this.text(at + 16, `{GUID-${facts.index}}`, 'latin1');
    this.text(at + 72, facts.name, 'utf16le');
    this.bytes.writeUInt32LE(facts.up === false ? 2 : 1, at + 104);
    this.bytes.writeUInt32LE(99, at + 108);
    this.bytes.writeUInt32LE(25, at + 216);
    this.bytes.writeUInt32LE(35, at + 220);
    return at;
  }

  address(from: number, bytes: Uint8Array, prefixLength: number): number {
    const at = this.place(64);
    this.point(from, at);
    const sockaddr = this.place(28);
    this.bytes.set(socketAddress(bytes), sockaddr);
    this.point(at + 16, sockaddr);
    this.bytes.writeUInt32LE(28, at + 24);
    this.bytes.writeUInt8(prefixLength, at + 56);
    return at;
  }
}

const ipv4 = Uint8Array.of(192, 0, 2, 2);
const ipv6 = Uint8Array.from(Buffer.from('20010db8000000000000000000000001', 'hex'));

it('follows the lists of adapters and of their addresses', () => {
  const memory = new Memory();
  const first = memory.adapter({ index: 4, name: 'Ethernet Größe' });
  const second = memory.adapter({ index: 0, name: 'down', up: false });
  memory.point(first + 8, second);
  const address = memory.address(first + 24, ipv4, 24);
  memory.address(address + 8, ipv6, 255);

  expect(decodeAdapters(memory.bytes, BASE)).toEqual([
    {
      index: 4,
      guid: '{GUID-4}',
      name: 'Ethernet Größe',
      isUp: true,
      metrics: { ipv4: 25, ipv6: 35 },
      addresses: [
        { bytes: ipv4, prefix: 24 },
        { bytes: ipv6, prefix: 128 },
      ],
    },
    expect.objectContaining({ index: 99, name: 'down', isUp: false, addresses: [] }),
  ]);
});

it('leaves out an address of a family that it does not know', () => {
  const memory = new Memory();
  const adapter = memory.adapter({ index: 1, name: 'a' });
  const address = memory.address(adapter + 24, ipv4, 24);
  memory.bytes.writeUInt16LE(17, address + 64);
  expect(decodeAdapters(memory.bytes, BASE)[0]?.addresses).toEqual([]);
});

it('finds no adapters in nothing', () => {
  expect(decodeAdapters(Buffer.alloc(0), BASE)).toEqual([]);
});

it.each([-1, 4096, 2 ** 32])('refuses a pointer that leads %d bytes from the start', (target) => {
  const memory = new Memory();
  memory.point(memory.adapter({ index: 1, name: 'a' }) + 8, target);
  expect(() => decodeAdapters(memory.bytes, BASE)).toThrow('bytes into a buffer of 4096');
});

it('refuses a structure that the end of the buffer cuts off', () => {
  const memory = new Memory();
  memory.point(memory.adapter({ index: 1, name: 'a' }) + 8, 4000);
  expect(() => decodeAdapters(memory.bytes, BASE)).toThrow('out of range');
});

it('refuses a list that leads back into itself', () => {
  const memory = new Memory();
  const adapter = memory.adapter({ index: 1, name: 'a' });
  memory.point(adapter + 8, adapter);
  expect(() => decodeAdapters(memory.bytes, BASE)).toThrow('back into itself');
});

const addressOf = () => 0n;

it('gives the system as much room as it asks for', () => {
  const capacities: number[] = [];
  const call = (buffer: Buffer, size: [number]) => {
    capacities.push(buffer.length);
    if (capacities.length === 3) return 232;
    size[0] = buffer.length * 2;
    return 111;
  };
  expect(readAdapters({ call, addressOf })).toEqual([]);
  expect(capacities).toEqual([15_000, 30_000, 60_000]);
});

it.each([
  ['never stops asking for more', (size: [number]) => (size[0] += 1), 'after 5 tries'],
  ['asks for too much', (size: [number]) => (size[0] = 2 ** 31), 'asked for 2147483648 bytes'],
  ['asks for less than it had', (size: [number]) => (size[0] = 0), 'asked for 15005 bytes'],
])('gives up on a system that %s', (_what, grow, message) => {
  const call = (_buffer: Buffer, size: [number]) => (grow(size), 111);
  expect(() => readAdapters({ call, addressOf })).toThrow(message);
});

it('tells which call failed, and what was found in an answer without sense', () => {
  expect(() => readAdapters({ call: () => 87, addressOf })).toThrow(
    'GetAdaptersAddresses failed with ERROR_INVALID_PARAMETER (87)',
  );
  const call = (buffer: Buffer) => (buffer.writeBigUInt64LE(1n << 40n, 8), 0);
  expect(() => readAdapters({ call, addressOf })).toThrow('returned invalid data: a pointer leads');
});
