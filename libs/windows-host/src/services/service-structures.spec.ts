import { windowsCommandLine } from '../processes/windows-process-start.js';
import {
  failureActions,
  multiString,
  oneNumber,
  oneText,
  parseFailureActions,
  parseOneText,
  parseServiceConfig,
} from './service-config.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { parseServiceStatus } from './service-wait.js';

const addressOf = (memory: Buffer): bigint => loadKoffi().address(memory);
const pointer = (to: bigint): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(to);
  return bytes.toString('hex');
};

describe('the structures of the service control manager', () => {
  it('restart after 5, 10 and 15 seconds and then for ever: only restarts, the last one repeats', () => {
    const policy = { restartDelaysMs: [5000, 10_000, 15_000], resetAfterSeconds: 600 };
    const memory = failureActions(policy);
    const expected = [
      '58020000', // dwResetPeriod
      '00000000', // alignment
      '0000000000000000', // lpRebootMsg
      '0000000000000000', // lpCommand
      '03000000', // cActions
      '00000000', // alignment
      pointer(addressOf(memory) + 40n), // lpsaActions, which follow
      '0100000088130000', // SC_ACTION_RESTART, 5000
      '0100000010270000',
      '01000000983a0000',
    ];
    expect(memory.toString('hex')).toBe(expected.join(''));
    expect(parseFailureActions(memory)).toEqual(policy);
  });

  it('do not read beyond their memory', () => {
    const memory = failureActions({ restartDelaysMs: [1], resetAfterSeconds: 1 });
    memory.writeUInt32LE(1_000_000, 24);
    expect(parseFailureActions(memory).restartDelaysMs).toEqual([1]);
    memory.writeBigUInt64LE(1n, 0);
    expect(parseOneText(memory)).toBe('');
  });

  it('hold a flag, a text, a list', () => {
    expect(oneNumber(1).toString('hex')).toBe('01000000');
    expect(parseOneText(oneText('Grüße'))).toBe('Grüße');
    expect(multiString(['A', 'B']).toString('utf16le')).toBe('A\0B\0\0\0');
    expect(multiString([]).toString('utf16le')).toBe('\0\0');
  });

  it('tell how a service is set up', () => {
    const texts = [
      windowsCommandLine('C:\\a b\\w.exe', []),
      'RpcSs',
      'Tcpip',
      '',
      'LocalSystem',
      'A b',
    ];
    const memory = Buffer.concat([
      Buffer.alloc(64),
      ...texts.map((text) => Buffer.from(`${text}\0`, 'utf16le')),
    ]);
    const at = (index: number): bigint =>
      addressOf(memory) +
      64n +
      texts.slice(0, index).reduce((sum, text) => sum + BigInt(text.length + 1) * 2n, 0n);
    memory.writeUInt32LE(2, 4);
    memory.writeBigUInt64LE(at(0), 16);
    memory.writeBigUInt64LE(at(1), 40);
    memory.writeBigUInt64LE(at(4), 48);
    memory.writeBigUInt64LE(at(5), 56);
    expect(parseServiceConfig(memory)).toEqual({
      startType: 2,
      commandLine: '"C:\\a b\\w.exe"',
      dependencies: ['RpcSs', 'Tcpip'],
      account: 'LocalSystem',
      displayName: 'A b',
    });
  });

  it('tell how a service does', () => {
    const memory = Buffer.alloc(36);
    for (const [index, value] of [16, 3, 0, 1066, 78, 7, 2000, 4242, 0].entries())
      memory.writeUInt32LE(value, index * 4);
    expect(parseServiceStatus(memory)).toEqual({
      state: 'stopPending',
      win32ExitCode: 1066,
      serviceExitCode: 78,
      checkpoint: 7,
      waitHintMs: 2000,
      pid: 4242,
    });
  });
});
