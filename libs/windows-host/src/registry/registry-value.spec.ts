import { advapi32 } from '../win32/advapi32.js';
import {
  decodeRegistryValue,
  encodeRegistryValue,
  RegistryKey,
  type RegistryValue,
} from './registry.js';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

it.each<RegistryValue>([
  { type: 'text', value: '' },
  { type: 'text', value: 'Prüfung 🙂' },
  { type: 'expandable-text', value: '%SystemRoot%\\x' },
  { type: 'texts', value: [] },
  { type: 'texts', value: ['A=1', 'B=2'] },
  { type: 'number', value: 0xffffffff },
  { type: 'bytes', value: Buffer.from([1, 2, 3]) },
])('reads what it wrote: %j', (value) => {
  expect(decodeRegistryValue(encodeRegistryValue(value))).toEqual(value);
});

it.each<[string, number, Buffer, RegistryValue]>([
  ['a text without its NUL', 1, utf16('abc'), { type: 'text', value: 'abc' }],
  ['what follows the NUL of a text', 1, utf16('abc\0def\0'), { type: 'text', value: 'abc' }],
  ['half a character', 1, utf16('ab').subarray(0, 3), { type: 'text', value: 'a' }],
  ['a list without its last NUL', 7, utf16('a\0b'), { type: 'texts', value: ['a', 'b'] }],
  ['an empty list', 7, Buffer.alloc(0), { type: 'texts', value: [] }],
  ['what follows the end of a list', 7, utf16('a\0\0b\0\0'), { type: 'texts', value: ['a'] }],
  ['a number that is too short', 4, Buffer.from([1]), { type: 'bytes', value: Buffer.from([1]) }],
])('reads %s', (_what, kind, bytes, value) => {
  expect(decodeRegistryValue({ kind, bytes })).toEqual(value);
});

it('refuses what would be read as something else', () => {
  expect(() => encodeRegistryValue({ type: 'text', value: 'a\0b' })).toThrow(RangeError);
  expect(() => encodeRegistryValue({ type: 'texts', value: ['a', '', 'b'] })).toThrow(RangeError);
  expect(() => encodeRegistryValue({ type: 'number', value: -1 })).toThrow('out of range');
});

it('ends the list of values when another program deletes one and writes it again meanwhile', () => {
  const names = ['a', 'b', 'c'];
  let reads = 0;
  const calls: Partial<typeof advapi32> = {
    RegOpenKeyExW: Object.assign(() => 0, { async: () => undefined }),
    RegCloseKey: Object.assign(() => 0, { async: () => undefined }),
    RegEnumValueW: Object.assign(
      (_key: number, index: number, name: unknown, length: [number], ...rest: unknown[]) => {
        reads += 1;
        if (reads === 2) names.push(names.shift() ?? '');
        if (reads > 10) throw new Error('it reads without end');
        const found = names[index];
        if (found === undefined) return 259;
        length[0] = (name as Buffer).write(found, 'utf16le') / 2;
        (rest[3] as [number])[0] = 0;
        return 0;
      },
      { async: () => undefined },
    ),
  };
  for (const [name, value] of Object.entries(calls))
    Object.defineProperty(advapi32, name, { value });
  using key = RegistryKey.open('SOFTWARE\\x');
  expect([...(key?.values().keys() ?? [])]).toEqual(['a', 'c']);
});
