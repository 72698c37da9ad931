import { TreeCpuTime } from './tree-cpu-time.js';

const process = (pid: number, parentPid: number, cpuTicks: number, startTicks = pid) => ({
  pid,
  parentPid,
  cpuTicks,
  startTicks,
});

describe('the processor time of a tree', () => {
  it('is the sum of what lives, in milliseconds', () => {
    const time = new TreeCpuTime();
    expect(time.update([])).toBe(0);
    expect(time.update([process(10, 1, 5), process(11, 10, 7)])).toBe(120);
  });

  it('counts a process that was waited for once, with its parent', () => {
    const time = new TreeCpuTime();
    time.update([process(10, 1, 5), process(11, 10, 7)]);
    expect(time.update([process(10, 1, 5 + 8)])).toBe(130);
  });

  it('keeps that of a leader that has ended, and goes on with what it left', () => {
    const time = new TreeCpuTime();
    time.update([process(10, 1, 1000), process(11, 10, 7)]);
    expect(time.update([process(11, 1, 9)])).toBe(10_090);
    expect(time.update([process(11, 1, 10)])).toBe(10_100);
    expect(time.update([])).toBe(10_100);
  });

  it('counts what ended with its parent once, with a grandparent that waited', () => {
    const time = new TreeCpuTime();
    time.update([process(10, 1, 5), process(11, 10, 7), process(12, 11, 3)]);
    expect(time.update([process(10, 1, 5 + 7 + 3)])).toBe(150);
  });

  it('never goes down, and takes a number that was given again for another process', () => {
    const time = new TreeCpuTime();
    time.update([process(10, 1, 5), process(11, 10, 7)]);
    expect(time.update([process(10, 1, 5)])).toBe(120);
    const again = new TreeCpuTime();
    again.update([process(11, 1, 7, 100)]);
    expect(again.update([process(11, 1, 2, 200)])).toBe(90);
  });
});
