import { exitStatusOf, reportExit } from './exit-status-of.js';

const ended = (exitCode: number | undefined, signal?: string) =>
  ({ exitCode, signal, reason: 'exited' }) as const;

describe('the exit status', () => {
  it('is the exit code of the process', () => {
    expect(exitStatusOf(ended(7), 'linux')).toBe(7);
    expect(exitStatusOf(ended(0), 'linux')).toBe(0);
  });

  it('is 128 and the number of the signal that ended it', () => {
    expect(exitStatusOf(ended(undefined, 'SIGKILL'), 'linux')).toBe(137);
    expect(exitStatusOf(ended(undefined, 'SIGTERM'), 'linux')).toBe(143);
  });

  it('holds all 32 bits of a Windows exit code on Windows', () => {
    expect(exitStatusOf(ended(0xc0000005), 'win32') >>> 0).toBe(0xc0000005);
  });

  it('never turns a failure into success where a status has 8 bits', () => {
    expect(exitStatusOf(ended(0x100), 'linux')).toBe(255);
  });

  it('is a failure when the exit of the process is unknown', () => {
    const unknown = { exitCode: undefined, signal: undefined, reason: 'unknown' } as const;
    const failure = 'the exit of web is unknown';
    expect(() => reportExit('web', unknown, true)).toThrow(failure);
    expect(() => reportExit('web', undefined, true)).toThrow(failure);
  });
});
