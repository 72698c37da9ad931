import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { TarMember } from '@wins/system-agent/testing';
import { archiveOf } from '../testing/archive-of.js';
import { readProgram } from './read-program.js';

const PROGRAM = { name: 'bin/csi-proxy.exe', content: 'MZ the program' };

async function read(archive: Buffer, limits: object = {}): Promise<string> {
  const program = await readProgram(archive, {
    unpackedBytes: 2 ** 29,
    entries: 1024,
    ...limits,
  });
  return program.length < 100
    ? program.toString('latin1')
    : createHash('sha256').update(program).digest('hex');
}
const entries = async (...list: TarMember[]) => read(await archiveOf(list));

describe('an archive with one program', () => {
  it('gives its bytes, whatever else is in it', async () => {
    const others = [
      { name: './', type: 'directory' as const },
      { name: './bin/', type: 'directory' as const },
      { name: 'LICENSE', content: 'text' },
    ];
    expect(await entries(...others, PROGRAM, { name: 'README.md', content: 'x' })).toBe(
      'MZ the program',
    );
    expect(await entries({ name: './csi-proxy.exe', content: 'MZ' })).toBe('MZ');
  });

  it('gives a large one whole', async () => {
    const content = randomBytes(3 * 1024 * 1024);
    const wanted = createHash('sha256').update(content).digest('hex');
    expect(await entries({ ...PROGRAM, content })).toBe(wanted);
  });

  it('may be a tar of the seventh Unix, which has no mark of its own', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-v7-'));
    writeFileSync(path.join(folder, 'csi-proxy.exe'), 'MZ old');
    const tar = execFileSync('tar', ['--format=v7', '-c', '-C', folder, '.']);
    rmSync(folder, { recursive: true });
    expect(await read(gzipSync(tar))).toBe('MZ old');
  });

  it('may have a long name, in either of the forms of tar', async () => {
    const name = `${'a'.repeat(150)}/${'b'.repeat(150)}/csi-proxy.exe`;
    expect(await entries({ name, content: 'MZ long' })).toBe('MZ long');
    expect(await entries({ name, content: 'MZ pax', pax: { path: name } })).toBe('MZ pax');
  });
});

describe('an archive that is refused', () => {
  it.each<[string, TarMember[], RegExp]>([
    [
      'a step out, as Windows writes it',
      [{ name: '..\\csi-proxy.exe', content: 'MZ' }],
      /does not allow/,
    ],
    [
      'a step out',
      [{ name: 'bin/../../csi-proxy.exe', content: 'MZ' }],
      /a step out of its folder/,
    ],
    [
      'a step out beside the program',
      [PROGRAM, { name: '../evil.exe', content: 'x' }],
      /a step out/,
    ],
    ['an absolute path', [{ name: '/Windows/csi-proxy.exe', content: 'MZ' }], /an absolute path/],
    ['a drive', [{ name: 'C:/csi-proxy.exe', content: 'MZ' }], /does not allow/],
    ['a drive without a folder', [{ name: 'C:csi-proxy.exe', content: 'MZ' }], /does not allow/],
    ['a stream', [{ name: 'bin/csi-proxy.exe:x', content: 'MZ' }], /does not allow/],
    ['a device', [PROGRAM, { name: 'bin/NUL.txt', content: 'x' }], /the name of a device/],
    ['a device with a digit', [PROGRAM, { name: 'com1', content: 'x' }], /the name of a device/],
    ['a dot at the end', [{ name: 'bin/csi-proxy.exe.', content: 'MZ' }], /does not allow/],
    [
      'a symbolic link',
      [{ name: 'bin/csi-proxy.exe', type: 'symlink', linkname: '/x' }],
      /a symlink/,
    ],
    [
      'a hard link',
      [PROGRAM, { name: 'x', type: 'link', linkname: 'bin/csi-proxy.exe' }],
      /a link/,
    ],
    [
      'a character device',
      [PROGRAM, { name: 'x', type: 'character-device' }],
      /a character-device/,
    ],
    [
      'two programs',
      [PROGRAM, { ...PROGRAM, name: 'csi-proxy.exe' }],
      /csi-proxy\.exe twice; wanted one/,
    ],
    ['two by case', [PROGRAM, { ...PROGRAM, name: 'bin/CSI-Proxy.exe' }], /in another spelling/],
    ['another spelling', [{ ...PROGRAM, name: 'bin/CSI-PROXY.EXE' }], /in another spelling/],
    [
      'a name that contains it',
      [{ ...PROGRAM, name: 'x-csi-proxy.exe.txt' }],
      /found no csi-proxy\.exe/,
    ],
    [
      'a name that ends with it',
      [{ ...PROGRAM, name: 'x-csi-proxy.exe' }],
      /found no csi-proxy\.exe/,
    ],
    [
      'a folder of the name',
      [{ name: 'csi-proxy.exe', type: 'directory' }],
      /a folder; wanted a file/,
    ],
    ['nothing', [], /found no csi-proxy\.exe/],
  ])('has %s', async (_, list, message) => {
    await expect(entries(...list)).rejects.toMatchObject({ code: 'archiveRefused', message });
  });

  it('is no archive', async () => {
    const refusal = { code: 'archiveRefused' };
    await expect(read(Buffer.from('<html>not found</html>'))).rejects.toMatchObject(refusal);
    await expect(read(gzipSync(Buffer.alloc(4096, 1)))).rejects.toMatchObject(refusal);
    await expect(read(Buffer.alloc(0))).rejects.toMatchObject(refusal);
  });

  it('is truncated at any point', async () => {
    const whole = await archiveOf([{ ...PROGRAM, content: randomBytes(5000) }]);
    for (const length of [1, 20, 1000, 4000, whole.length - 9, whole.length - 1])
      await expect(read(whole.subarray(0, length))).rejects.toMatchObject({
        code: 'archiveRefused',
      });
    const tar = gunzipSync(whole);
    for (const length of [100, 600, 3000])
      await expect(read(gzipSync(tar.subarray(0, length)))).rejects.toMatchObject({
        code: 'archiveRefused',
      });
  });

  it('becomes too large, and is not unpacked to its end', async () => {
    const bomb = await archiveOf([{ ...PROGRAM, content: Buffer.alloc(8 * 1024 * 1024) }]);
    expect(bomb.length).toBeLessThan(100_000);
    await expect(read(bomb, { unpackedBytes: 1_000_000 })).rejects.toMatchObject({
      code: 'archiveRefused',
      message: expect.stringMatching(/more than 1000000 bytes/) as string,
    });
    const behind = await archiveOf([PROGRAM, { name: 'zeros', content: Buffer.alloc(2_000_000) }]);
    await expect(read(behind, { unpackedBytes: 1_000_000 })).rejects.toMatchObject({
      code: 'archiveRefused',
    });
  });

  it('has more entries than any archive of csi-proxy', async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ name: `f${index}`, content: '' }));
    const archive = await archiveOf([...many, PROGRAM]);
    expect(await read(archive, { entries: 21 })).toBe('MZ the program');
    await expect(read(archive, { entries: 20 })).rejects.toMatchObject({ code: 'archiveRefused' });
  });
});
