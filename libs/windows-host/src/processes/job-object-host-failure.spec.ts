import { inspectionCode, startCode, windowsFailure } from './job-object-host-failure.js';
import { jobObjectProcessHost } from './job-object-process-host.js';
import { systemError, WindowsError } from '../windows-error.js';

const system = (errorNumber: number) =>
  systemError('started it', { functionName: 'CreateProcessW', errorNumber });

describe('a failure of the process host', () => {
  it('is the fault of a request only where this library refused it', () => {
    expect(startCode(new WindowsError('invalidArgument', 'too long'))).toBe('invalidArgument');
    expect(startCode(system(87))).toBe('spawnFailed');
    expect(startCode(system(193))).toBe('spawnFailed');
    expect(startCode(new Error('other'))).toBe('spawnFailed');
  });

  it('tells a file that is not there from one that cannot be looked at', () => {
    expect([2, 3, 5].map((errorNumber) => inspectionCode(system(errorNumber)))).toEqual([
      'notFound',
      'notFound',
      'unknown',
    ]);
  });

  it('is by default the error of the system, or one that says as much', () => {
    const cause = system(5);
    expect(windowsFailure('spawnFailed', 'no', { cause })).toBe(cause);
    expect(windowsFailure('pathNotTrusted', 'no', {})).toMatchObject({ code: 'accessDenied' });
    const other = new Error('other');
    expect(windowsFailure('unknown', 'no', { cause: other })).toMatchObject({ cause: other });
  });

  it('comes at once elsewhere than on Windows', () => {
    expect(() => jobObjectProcessHost()).toThrow('it is there on win32 only');
  });
});
