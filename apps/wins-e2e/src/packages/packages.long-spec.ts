import {
  LIBRARIES,
  PackageUser,
  REPOSITORY,
  type Resolution,
} from '../testing/packages/package-user.js';
import { sampleOf } from '../testing/sample.js';
import { Workspace } from '../testing/workspace.js';

describe('the packages of the libraries, installed together', () => {
  const workspace = new Workspace();
  const user = new PackageUser(workspace.path('project'));
  beforeAll(() => user.install(LIBRARIES));
  afterAll(() => workspace[Symbol.dispose]());

  it.each(sampleOf<Resolution>(['node16', 'nodenext', 'bundler'], 2))(
    'bring their types to %s, for which the examples compile',
    (resolution) => user.compiles(LIBRARIES, resolution),
  );

  it('are required by Jest', () => {
    expect(user.loadsInJest(LIBRARIES)).toBe(LIBRARIES.length);
  });

  describe.each(LIBRARIES)('$name', (library) => {
    it('is imported by an ES module and by CommonJS, and is there once', () => {
      expect(user.loads(library)).toEqual({
        imported: 'function',
        required: 'function',
        isOne: true,
      });
    });

    it('is CommonJS for tools that know nothing else', () => {
      expect(user.requiresCommonJs(library)).toBe('function');
    });

    it('holds what it needs and no more', () => {
      const files = user.filesOf(library);
      expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']));
      expect(user.installedReadmeOf(library)).not.toContain('](..');
      expect(files.filter((file) => /\.spec\.|tsbuildinfo|\.map$|^src/.test(file))).toEqual([]);
    });

    it('names its purpose, its source and a contact', () => {
      const folder = library.folder.split('/').pop();
      expect(user.manifestOf(library)).toMatchObject({
        license: 'Apache-2.0',
        author: expect.stringMatching(/./) as string,
        keywords: expect.arrayContaining([expect.any(String)]) as string[],
        repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `libs/${folder}` },
        homepage: `${REPOSITORY}/tree/HEAD/libs/${folder}#readme`,
        bugs: `${REPOSITORY}/issues`,
        engines: { node: '>=20.19' },
        sideEffects: false,
        publishConfig: { provenance: true },
      });
    });

    it('takes every release of another that is compatible', () => {
      const { dependencies = {} } = user.manifestOf(library);
      for (const range of Object.values(dependencies as object)) expect(range).toMatch(/^[\^~]/);
    });
  });
});
