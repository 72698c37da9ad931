import { pickLeftovers } from './job-object-process-host.js';
import type { ProcessEntry } from './windows-process.js';

const COPY = 'C:\\a\\rancher-wins-k.exe';

function table(...entries: (Partial<ProcessEntry> & { pid: number })[]) {
  const complete = entries.map((entry) => ({
    parentPid: 1,
    created: String(entry.pid * 10),
    image: 'C:\\other.exe',
    isInJob: false,
    ...entry,
  }));
  return new Map(complete.map((entry) => [entry.pid, entry]));
}

function pick(processes: ReturnType<typeof table>, remembered: [number, string][] = []) {
  const search = {
    executables: [COPY],
    remembered: remembered.map(([pid, startToken]) => ({ mark: `run${pid}`, pid, startToken })),
  };
  return pickLeftovers(processes, search, 50).map(({ pid, evidence, claimed }) => [
    pid,
    evidence,
    ...(claimed ? ['claimed'] : []),
  ]);
}

describe('pickLeftovers', () => {
  it('picks what runs a verified copy, in any ASCII case, and nothing that is named alike', () => {
    const processes = table(
      { pid: 60, image: COPY.toUpperCase() },
      { pid: 61, image: 'C:\\b\\rancher-wins-k.exe' },
      { pid: 62, image: `${COPY}.exe` },
      { pid: 63, image: undefined },
      // U+212A folds to k, but is another letter.
      { pid: 64, image: COPY.replace('k', '\u212a') },
    );
    expect(pick(processes)).toEqual([[60, 'executable']]);
  });

  it('picks a remembered process by number and time, never by its number alone', () => {
    const processes = table({ pid: 60 }, { pid: 61 });
    expect(
      pick(processes, [
        [60, '600'],
        [61, '600'],
      ]),
    ).toEqual([[60, 'record']]);
  });

  it('leaves to a living daemon what is in a job and has its parent', () => {
    const processes = table(
      { pid: 40 },
      { pid: 60, image: COPY, parentPid: 40, isInJob: true },
      { pid: 61, image: COPY, parentPid: 40 },
      { pid: 62, image: COPY, parentPid: 41, isInJob: true },
      // Process 64 is not the real parent of process 63, because process 64 is younger. It reuses the real parent's PID.
      { pid: 63, image: COPY, parentPid: 64, isInJob: true },
      { pid: 64 },
    );
    expect(pick(processes)).toEqual([
      [60, 'executable', 'claimed'],
      [61, 'executable'],
      [62, 'executable'],
      [63, 'executable'],
    ]);
  });

  it('claims the process that the search spares, by number and time', () => {
    const processes = table({ pid: 60, image: COPY }, { pid: 61, image: COPY }, { pid: 62 });
    const remembered = [{ mark: 'run62', pid: 62, startToken: '620' }];
    const claimed = (spared: string) =>
      pickLeftovers(processes, { executables: [COPY], remembered, spared }, 50)
        .filter((leftover) => leftover.claimed)
        .map(({ pid }) => pid);
    expect(['60:600', '62:620', '61:600', '61'].flatMap(claimed)).toEqual([60, 62]);
  });

  it('never picks this process or what started it', () => {
    const processes = table(
      { pid: 30, image: COPY, parentPid: 30 },
      { pid: 40, image: COPY, parentPid: 30 },
      { pid: 50, image: COPY, parentPid: 40 },
      { pid: 60, image: COPY, parentPid: 50 },
    );
    expect(pick(processes, [[50, '500']])).toEqual([[60, 'executable']]);
  });
});
