import { cpuPercentOf, runKey } from './process-stats.js';
import { formatBytes } from './run-facts.js';

const used = (cpuMs: number) => ({ usage: { cpuMs, memoryBytes: 0, processes: 1 } });

describe('how much of a processor a run uses', () => {
  it.each([
    [0, 0, 1000, 0],
    [100, 350, 1000, 25],
    [0, 3000, 1500, 200],
    [0, 1, 3000, 0],
    [0, 333, 1000, 33.3],
  ])('from %d ms to %d ms within %d ms is %d %%', (before, after, tookMs, percent) => {
    expect(cpuPercentOf(used(before), used(after), tookMs)).toBe(percent);
  });

  it('is not known for a run that is new, or not measured', () => {
    expect(cpuPercentOf(undefined, used(5), 1000)).toBeNull();
    expect(cpuPercentOf({}, used(5), 1000)).toBeNull();
    expect(cpuPercentOf(used(5), {}, 1000)).toBeNull();
    expect(cpuPercentOf(used(5), used(5), 0)).toBeNull();
  });

  it('is not mixed up between two runs of one name', () => {
    const keys = [1, 2].map((ms) => runKey({ process: 'rancher-wins-a', startedAtMs: ms }));
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
