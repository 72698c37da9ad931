import { parseLogFileCount, parseLogFileSize } from './log-file-options.js';

describe('the size of a log file', () => {
  it.each([
    ['65536', 65_536],
    ['64KiB', 65_536],
    ['10MiB', 10_485_760],
    ['10mi', 10_485_760],
    ['1g', 1_073_741_824],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseLogFileSize(text)).toBe(bytes);
  });

  it.each(['', '0', '65535', '2GiB', '1.5MiB', '-1', '10 MiB', '10MBit', '99999999999999'])(
    'is not "%s"',
    (text) => {
      expect(() => parseLogFileSize(text)).toThrow(
        `--log-file-size: found "${text}"; wanted 64KiB to 1GiB, such as 10MiB`,
      );
    },
  );
});

describe('the number of log files', () => {
  it.each(['1', '5', '100'])('may be %s', (text) => {
    expect(parseLogFileCount(text)).toBe(Number(text));
  });

  it.each(['', '0', '101', '1e2', '0x5'])('is not "%s"', (text) => {
    expect(() => parseLogFileCount(text)).toThrow(
      `--log-files: found "${text}"; wanted a number from 1 to 100`,
    );
  });
});
