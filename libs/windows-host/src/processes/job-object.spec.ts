import { cpuRate, jobLimits } from './job-object.js';

// https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_extended_limit_information
it('has a job end with its last handle, and lets nothing out that was not allowed to leave', () => {
  const flagsOf = (mayBreakAway: boolean): number => jobLimits({ mayBreakAway }).readUInt32LE(16);
  expect(jobLimits({})).toHaveLength(144);
  expect(flagsOf(false)).toBe(0x2000);
  expect(flagsOf(true)).toBe(0x2800);
});

it('limits the memory of a whole job, and its processes', () => {
  const both = jobLimits({ limits: { memoryBytes: 2 ** 33, pids: 8 } });
  expect([both.readUInt32LE(16), both.readUInt32LE(40)]).toEqual([0x2208, 8]);
  expect(both.readBigUInt64LE(120)).toBe(2n ** 33n);
});

it('limits processors by a part of all, which is never exceeded', () => {
  const rateOf = (wanted: number) => cpuRate(wanted, 4).readUInt32LE(4);
  expect([0.5, 4, 64, 0.0001].map(rateOf)).toEqual([1250, 10_000, 10_000, 1]);
  expect(cpuRate(1, 4).readUInt32LE(0)).toBe(5);
});
