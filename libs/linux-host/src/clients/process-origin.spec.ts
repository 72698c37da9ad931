import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processOrigin } from './process-origin.js';

const ID = '0123456789abcdef'.repeat(4);
const INNER = 'f'.repeat(64);
const onLinux = process.platform === 'linux' ? describe : describe.skip;
if (process.platform !== 'linux')
  process.stderr.write('SKIPPED: where a process lives, which only Linux says\n');

onLinux('where a process lives', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-origin-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  let count = 0;
  function described(cgroup: string, flags = 0x400000): string {
    const made = path.join(folder, `${(count += 1)}`);
    mkdirSync(path.join(made, 'ns'), { recursive: true });
    symlinkSync('mnt:[77]', path.join(made, 'ns/mnt'));
    writeFileSync(path.join(made, 'cgroup'), cgroup);
    writeFileSync(path.join(made, 'stat'), `7 (a) b) R 1 7 7 0 -1 ${flags} 0 0`);
    return made;
  }

  it('is the host when it sees what we see, whatever its control group', () => {
    expect(processOrigin(process.pid)).toEqual({ kind: 'host' });
  });

  it.each([
    ['containerd of Kubernetes', `0::/kubepods.slice/pod1/cri-containerd-${ID}.scope\n`, ID],
    ['Docker, version 1', `9:pids:/docker/${ID}\n0::/\n`, ID],
    ['a group that the container made', `0::/docker/${ID}/mine/${INNER}\n`, ID],
    ['a container in a container', `0::/docker/${ID}/docker/${INNER}\n`, ID],
    ['no runtime that we know', '0::/user.slice\n', 'mounts:77'],
    ['more than 64 digits, which is no id', `0::/x/${ID}0\n`, 'mounts:77'],
    ['nothing', '', 'mounts:77'],
  ])('is a container: %s', (_what, cgroup, id) => {
    expect(processOrigin(1, described(cgroup))).toEqual({ kind: 'container', id });
  });

  it('is not known of one that is ending and has lost its control group', () => {
    expect(processOrigin(1, described('0::/\n', 0x40000c))).toEqual({ kind: 'unknown' });
    expect(processOrigin(1, described(`0::/docker/${ID}\n`, 0x40000c))).toEqual({
      kind: 'container',
      id: ID,
    });
  });

  it('is not known of one that has ended', () => {
    expect(processOrigin(2 ** 22 + 1)).toEqual({ kind: 'unknown' });
  });

  it.each([0, -1])('is not known of process %d, whatever a folder of that name holds', (pid) => {
    const folder = described(`0::/docker/${ID}\n`);
    expect(processOrigin(pid, folder)).toEqual({ kind: 'unknown' });
  });
});
