import { readAccounting } from './job-object.js';

describe('the account of a job', () => {
  it('has the time of users and of the kernel, in 100 ns, and counts what runs', () => {
    const accounting = Buffer.alloc(48);
    accounting.writeBigInt64LE(12_000_000n, 0);
    accounting.writeBigInt64LE(345_678n, 8);
    // TotalProcesses, ActiveProcesses and TotalTerminatedProcesses are adjacent fields.
    [9, 2, 1].forEach((count, at) => accounting.writeUInt32LE(count, 36 + 4 * at));
    expect(readAccounting(accounting)).toEqual({ cpuMs: 1235, processes: 2 });
  });
});
