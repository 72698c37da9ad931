import { cpuPercentOf, runKey } from './run-cpu.js';
import { formatBytes } from './format-bytes.js';

const used = (CpuMs: bigint) => ({ Usage: { CpuMs, MemoryBytes: 0n, Processes: 1 } });

describe('how much of a processor a run uses', () => {
  it.each([
    [0n, 0n, 1000, 0],
    [100n, 350n, 1000, 25],
    [0n, 3000n, 1500, 200],
    [0n, 1n, 3000, 0],
    [0n, 333n, 1000, 33.3],
  ])('from %d ms to %d ms within %d ms is %d %%', (before, after, tookMs, percent) => {
    expect(cpuPercentOf(used(before), used(after), tookMs)).toBe(percent);
  });

  it('is not known for a run that is new, or not measured', () => {
    expect(cpuPercentOf(undefined, used(5n), 1000)).toBeNull();
    expect(cpuPercentOf({}, used(5n), 1000)).toBeNull();
    expect(cpuPercentOf(used(5n), {}, 1000)).toBeNull();
    expect(cpuPercentOf(used(5n), used(5n), 0)).toBeNull();
  });

  it('is not mixed up between two runs of one name', () => {
    const keys = [1n, 2n].map((StartedAtMs) => runKey({ Name: 'rancher-wins-a', StartedAtMs }));
    expect(new Set(keys).size).toBe(2);
  });
});

describe('a number of bytes for people', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1024 ** 2 - 1, '1024.0 KiB'],
    [5 * 1024 ** 3, '5.0 GiB'],
    [2 ** 53 - 1, '8192.0 TiB'],
  ])('%d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
