import { LIBRARIES, PackageUser } from '../testing/package-user.js';
import { Workspace } from '../testing/workspace.js';

describe('the packages of the libraries, installed together', () => {
  const workspace = new Workspace();
  const user = new PackageUser(workspace.path('project'));
  beforeAll(() => user.install(LIBRARIES));
  afterAll(() => workspace[Symbol.dispose]());

  describe.each(LIBRARIES)('$name', (library) => {
    it('is imported by CommonJS', () => {
      expect(user.requires(library)).toBe('function');
    });

    it('is imported by an ES module, by name', () => {
      expect(user.imports(library)).toBe('function');
    });

    it('brings its types', () => {
      user.compiles(library);
    });

    it('holds what it needs and no more', () => {
      const files = user.filesOf(library);
      expect(files).toContain('README.md');
      expect(files.filter((file) => /\.spec\.|tsbuildinfo|out-tsc|^src/.test(file))).toEqual([]);
    });
  });
});
