import fc from 'fast-check';
import {
  type Dirent,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { dockerArchive, ImageLab, tarOf, type TarMember } from '../testing/image-harness.js';
import type { ImageStoreOptions } from './store-options.js';

const WINDOWS = { platform: { os: 'windows', arch: 'amd64' } } as const;
let lab: ImageLab;
let outside: string;

beforeEach(() => {
  lab = new ImageLab();
  outside = join(lab.root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'untouched');
});
afterEach(() => {
  // In every test, nothing outside the folder may change.
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('untouched');
  expect(readdirSync(lab.root).sort()).toEqual(['execution', 'images', 'outside']);
  lab.remove();
});

async function unpack(layers: readonly TarMember[][], options: Partial<ImageStoreOptions> = {}) {
  const tars = await Promise.all(layers.map(tarOf));
  writeFileSync(join(lab.images, 'img.tar'), await dockerArchive('img:v1', tars));
  await lab.unpack('img:v1', options);
}

const refused = (found: string) => ({
  code: 'imageFailed',
  message: expect.stringContaining(`found ${found}`) as unknown,
});
const at = (name: string) => join(lab.folder, name);

describe('an image cannot leave its folder', () => {
  it.each([
    ['a step up', '../outside/secret', 'a step out of its folder'],
    ['a step up behind a folder', 'a/../../outside/secret', 'a step out of its folder'],
    ['an absolute path', '/etc/passwd', 'an absolute path'],
    ['a path too long', 'a/'.repeat(3000), '6000 characters'],
  ])('by %s', async (_, name, found) => {
    await expect(unpack([[{ name, content: 'evil' }]])).rejects.toMatchObject(refused(found));
    expect(readdirSync(lab.folder)).toEqual([]);
  });

  it.each([
    ['a link that leads up', '../outside'],
    ['a link that leads up behind a folder', 'a/../../outside'],
    ['a link to nothing', ''],
  ])('by %s', async (_, linkname) => {
    await expect(unpack([[{ name: 'link', type: 'symlink', linkname }]])).rejects.toMatchObject(
      refused('a link to'),
    );
    expect(readdirSync(lab.folder)).toEqual([]);
  });

  it('by a link whose path contains another link', async () => {
    await unpack([
      [
        { name: 'deep/er', type: 'directory' },
        { name: 'deep/er/up', type: 'symlink', linkname: '../..' },
        // The link `up` leads to the image's folder, so `up/..` would lead out of it. The unpacker therefore drops `up/..`
        // from the target.
        { name: 'out', type: 'symlink', linkname: 'deep/er/up/../outside' },
      ],
    ]);
    expect(readlinkSync(at('out'))).toBe('deep/er/outside');
    await expect(
      unpack([
        [
          { name: 'out', type: 'symlink', linkname: 'deep/er/up/../outside' },
          { name: 'out/x', content: 'evil' },
        ],
      ]),
    ).rejects.toMatchObject(refused('that it leads nowhere'));
  });

  it('by an absolute link, which means the root of the image', async () => {
    await unpack([
      [
        { name: 'usr/bin/tool', content: 'tool' },
        { name: 'bin', type: 'symlink', linkname: '/usr/bin' },
        { name: 'usr/share/link', type: 'symlink', linkname: '/usr/bin/tool' },
      ],
      [{ name: 'bin/other', content: 'other' }],
    ]);
    expect([readlinkSync(at('bin')), readlinkSync(at('usr/share/link'))]).toEqual([
      'usr/bin',
      '../bin/tool',
    ]);
    expect(readdirSync(at('usr/bin'))).toEqual(['other', 'tool']);
  });

  it.each([
    ['through a link that was there before', 'here/secret'],
    ['through a link to a link that was there before', 'there/secret'],
  ])('%s', async (_, name) => {
    symlinkSync(outside, at('here'));
    symlinkSync('here', at('there'));
    await expect(unpack([[{ name, content: 'evil' }]])).rejects.toMatchObject(
      refused('that it leads out of the folder'),
    );
  });

  it('by a file in the place of a link: the link is replaced', async () => {
    symlinkSync(join(outside, 'secret'), at('file'));
    linkSync(join(outside, 'secret'), at('same'));
    await unpack([
      [
        { name: 'file', content: 'new' },
        { name: 'same', content: 'new' },
      ],
    ]);
    expect([readFileSync(at('file'), 'utf8'), readFileSync(at('same'), 'utf8')]).toEqual([
      'new',
      'new',
    ]);
  });

  it.each([
    ['to a file outside', '../outside/secret', 'a step out of its folder'],
    ['to an absolute path', '/etc/passwd', 'an absolute path'],
    ['to what is not there', 'nothing', 'nothing there'],
    ['to a link', 'link', 'no regular file there'],
  ])('by a hard link %s', async (_, linkname, found) => {
    const members: TarMember[] = [
      { name: 'link', type: 'symlink', linkname: 'a/b/c' },
      { name: 'hard', type: 'link', linkname },
    ];
    await expect(unpack([members])).rejects.toMatchObject(refused(found));
  });

  it('by a hard link through a link that was there before', async () => {
    symlinkSync(outside, at('here'));
    const member: TarMember = { name: 'hard', type: 'link', linkname: 'here/secret' };
    await expect(unpack([[member]])).rejects.toMatchObject(
      refused('that it leads out of the folder'),
    );
  });

  it.each(['character-device', 'block-device', 'fifo'] as const)('as a %s', async (type) => {
    await expect(unpack([[{ name: 'dev', type }]])).rejects.toMatchObject(
      refused('an entry of the kind'),
    );
  });

  it.each([
    ['of the folder above', '.wh...', 'a step out of its folder'],
    ['of the folder itself', '.wh..', 'no name after .wh.'],
    ['without a name', '.wh.', 'no name after .wh.'],
    ['behind a step up', '../.wh.outside', 'a step out of its folder'],
  ])('by a whiteout %s', async (_, name, found) => {
    await expect(unpack([[{ name: 'kept', content: '' }], [{ name }]])).rejects.toMatchObject(
      refused(found),
    );
    expect(readdirSync(lab.folder)).toEqual(['kept']);
  });

  it('by a whiteout of a link: the link goes, not what it leads to', async () => {
    symlinkSync(outside, at('here'));
    await unpack([[], [{ name: '.wh.here' }]]);
    expect(readdirSync(lab.folder)).toEqual([]);
  });

  it('by an opaque mark in a link', async () => {
    symlinkSync(outside, at('here'));
    await unpack([[{ name: 'here/.wh..wh..opq' }]]);
    expect(readdirSync(lab.folder)).toEqual(['here']);
  });

  it('with rights for others', async () => {
    await unpack([
      [
        { name: 'd', type: 'directory', mode: 0o777 },
        { name: 'd/f', mode: 0o6777, content: '' },
      ],
    ]);
    expect([lstatSync(at('d')).mode & 0o7777, lstatSync(at('d/f')).mode & 0o7777]).toEqual([
      0o755, 0o755,
    ]);
  });
});

describe('an image costs no more than it may', () => {
  it('by folders that no entry names', async () => {
    const deep = `${'x/'.repeat(20)}file`;
    const limits = { entries: 10 };
    await expect(unpack([[{ name: deep }]], { limits })).rejects.toMatchObject(
      refused('more entries; wanted at most 10'),
    );
    expect(readdirSync(lab.folder, { recursive: true })).toHaveLength(9);
    rmSync(at('x'), { recursive: true });
    await unpack([[{ name: deep }]], { limits: { entries: 21 } });
    expect(readdirSync(lab.folder, { recursive: true })).toHaveLength(21);
  });

  it('by paths that are too long, alone or together', async () => {
    const members = ['a', 'b', 'c'].map((name) => ({ name: `${name}/${'x'.repeat(200)}` }));
    await expect(unpack([members], { limits: { pathUnits: 600 } })).rejects.toMatchObject(
      refused('longer paths; wanted at most 600 in all'),
    );
    await unpack([members], { limits: { pathUnits: 609 } });
  });
});

/** Lists a folder with all below it. A recursive `readdirSync` of Node 26 follows links, which may form circles: its list then fills the memory. */
function entriesIn(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry, ...entriesIn(join(folder, entry.name))] : [entry],
  );
}

describe('whatever layers are made of', () => {
  const step = fc.constantFrom(
    'a',
    'b',
    'l',
    '..',
    '.',
    '.wh.a',
    '.wh.l',
    '.wh...',
    '.wh..wh..opq',
  );
  const name = fc
    .tuple(fc.constantFrom('', '', '', '/'), fc.array(step, { minLength: 1, maxLength: 4 }))
    .map(([start, steps]) => start + steps.join('/'));
  const target = fc
    .tuple(
      fc.constantFrom('', '/'),
      fc.array(fc.constantFrom('a', 'b', 'l', '..', 'outside'), { maxLength: 4 }),
    )
    .map(([start, steps]) => start + steps.join('/'));
  const member = fc.record({
    name,
    type: fc.constantFrom('file', 'directory', 'symlink', 'symlink', 'link'),
    linkname: target,
    content: fc.constant(''),
  });
  const layers = fc.array(fc.array(member, { maxLength: 6 }), { minLength: 1, maxLength: 3 });

  it('every link leads to a place in the folder, and nothing beside it changes', async () => {
    await fc.assert(
      fc.asyncProperty(layers, async (made) => {
        for (const left of readdirSync(lab.folder)) rmSync(at(left), { recursive: true });
        await unpack(made as TarMember[][]).catch((error: unknown) =>
          expect(error).toMatchObject({ code: 'imageFailed' }),
        );
        for (const entry of entriesIn(lab.folder)) {
          if (!entry.isSymbolicLink()) continue;
          const end = resolve(entry.parentPath, readlinkSync(join(entry.parentPath, entry.name)));
          expect(`${end}/`).toMatch(new RegExp(`^${lab.folder}/`));
        }
        expect(readdirSync(lab.root).sort()).toEqual(['execution', 'images', 'outside']);
      }),
      { numRuns: 150 },
    );
  });
});

describe('names that Windows reads as something else', () => {
  it.each(['C:/x', 'C:x', 'a\\..\\..\\x', 'file:stream', 'x.', 'x ', 'a*', 'a\u0001'])(
    '%j is refused',
    async (name) => {
      await expect(unpack([[{ name, content: '' }]], WINDOWS)).rejects.toMatchObject(
        refused('a character that Windows does not allow'),
      );
    },
  );

  it.each(['nul', 'CON.txt', 'a/Lpt1', 'COM¹', 'conin$', 'aux .x'])(
    '%j is refused',
    async (name) => {
      await expect(unpack([[{ name, content: '' }]], WINDOWS)).rejects.toMatchObject(
        refused('the name of a device'),
      );
    },
  );

  it('that differ in case alone are refused in one layer', async () => {
    const members: TarMember[] = [
      { name: 'Dir/a', content: '' },
      { name: 'dir/b', content: '' },
    ];
    await expect(unpack([members], WINDOWS)).rejects.toMatchObject(
      refused('"Dir" in the same layer'),
    );
  });

  it.each(['C:\\Windows', '..\\x', '//server/share:x'])(
    'a link to %j is refused',
    async (linkname) => {
      await expect(
        unpack([[{ name: 'link', type: 'symlink', linkname }]], WINDOWS),
      ).rejects.toMatchObject({
        code: 'imageFailed',
      });
    },
  );
});

describe('the subtree of a Windows image', () => {
  const subtree = { ...WINDOWS, subtree: 'Files/bin' };

  it('becomes the root, and nothing else is unpacked', async () => {
    await unpack(
      [
        [
          { name: 'Files/bin/run.ps1', content: 'old' },
          { name: 'Files/bin/sub/a', content: 'a' },
          { name: 'Files/Windows/x', content: 'x' },
          { name: 'Hives', type: 'directory' },
          { name: 'dev', type: 'fifo' },
        ],
        [{ name: 'files/BIN/run.ps1', content: 'new' }, { name: 'Files/bin/sub/.wh.a' }],
      ],
      subtree,
    );
    expect(readdirSync(lab.folder).sort()).toEqual(['run.ps1', 'sub']);
    expect(readFileSync(at('run.ps1'), 'utf8')).toBe('new');
    expect(readdirSync(at('sub'))).toEqual([]);
  });

  it('is emptied by a whiteout of it, or above it', async () => {
    for (const name of ['.wh.Files', 'Files/.wh.bin', 'Files/.wh..wh..opq']) {
      await unpack(
        [
          [{ name: 'Files/bin/old', content: '' }],
          [{ name }, { name: 'Files/bin/new', content: '' }],
        ],
        subtree,
      );
      expect(readdirSync(lab.folder)).toEqual(['new']);
    }
  });

  it.each(['symlink', 'link'] as const)('has no %s out of it', async (type) => {
    const members: TarMember[] = [
      { name: 'Files/x', content: '' },
      { name: 'Files/bin/l', type, linkname: type === 'link' ? 'Files/x' : '../x' },
    ];
    await expect(unpack([members], subtree)).rejects.toMatchObject(refused('a link to'));
  });
});

describe('layers over layers', () => {
  it('a whiteout removes what is below, and never what its own layer has', async () => {
    await unpack([
      [
        { name: 'd/old', content: '' },
        { name: 'd/e/old', content: '' },
        { name: 'f', content: 'old' },
      ],
      [
        { name: 'd/e/new', content: '' },
        { name: 'f', content: 'new' },
        { name: '.wh.f' },
        { name: '.wh.d' },
      ],
    ]);
    expect([readdirSync(lab.folder).sort(), readdirSync(at('d')), readdirSync(at('d/e'))]).toEqual([
      ['d', 'f'],
      ['e'],
      ['new'],
    ]);
  });

  it('an opaque folder hides what is below, wherever its mark is', async () => {
    await unpack([
      [{ name: 'd/old', content: '' }],
      [
        { name: 'd/new', content: '' },
        { name: 'd/.wh..wh..opq' },
        { name: 'd/.wh..wh.plnk', type: 'directory' },
      ],
    ]);
    expect(readdirSync(at('d'))).toEqual(['new']);
  });

  it('a file takes the place of a folder, and a folder that of a file', async () => {
    await unpack([
      [
        { name: 'a/b', content: '' },
        { name: 'c', content: '' },
      ],
      [
        { name: 'a', content: 'file' },
        { name: 'c/d', content: 'file' },
      ],
    ]);
    expect([readFileSync(at('a'), 'utf8'), readFileSync(at('c/d'), 'utf8')]).toEqual([
      'file',
      'file',
    ]);
  });

  it('a hard link has the content of its layer, also when a later one replaces its other name', async () => {
    await unpack([
      [
        { name: 'a', content: 'one' },
        { name: 'b', type: 'link', linkname: 'a' },
      ],
      [{ name: 'a', content: 'two' }],
    ]);
    expect([readFileSync(at('a'), 'utf8'), readFileSync(at('b'), 'utf8')]).toEqual(['two', 'one']);
  });
});
