import { jobLimits } from './job-object.js';

// https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_basic_limit_information
it('has a job end with its last handle, and lets nothing out that was not allowed to leave', () => {
  const flagsOf = (mayBreakAway: boolean): number => jobLimits(mayBreakAway).readUInt32LE(16);
  expect(jobLimits(false)).toHaveLength(144);
  expect(flagsOf(false)).toBe(0x2000);
  expect(flagsOf(true)).toBe(0x2800);
});
