import { parseSize } from './parse-size.js';

it.each([
  ['1048576', 1_048_576],
  ['64MiB', 67_108_864],
  ['512m', 536_870_912],
  ['1.5Gi', 1_610_612_736],
  ['2gb', 2_147_483_648],
  ['1TiB', 1_099_511_627_776],
  ['0', 0],
])('reads %s as a number of bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

it.each(['', '-1', '1 MiB', '1P', 'MiB', '1e9', '9007199254740993', '99999999g'])(
  'refuses %j, and says what was wanted',
  (text) => {
    expect(() => parseSize(text)).toThrow(
      `found ${JSON.stringify(text)}; wanted a number of bytes, such as 512MiB or 2GiB`,
    );
  },
);
