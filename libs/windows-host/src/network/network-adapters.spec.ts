import { readAdapters } from './network-adapters.js';

const addressOf = () => 0n;

it('gives the system as much room as it asks for', () => {
  const rooms: number[] = [];
  const call = (buffer: Buffer, size: [number]) => {
    rooms.push(buffer.length);
    if (rooms.length === 3) return 232;
    size[0] = buffer.length * 2;
    return 111;
  };
  expect(readAdapters({ call, addressOf })).toEqual([]);
  expect(rooms).toEqual([15_000, 30_000, 60_000]);
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
  expect(() => readAdapters({ call, addressOf })).toThrow('wrote nonsense: a pointer leads');
});
