import { LIBRARIES, PackageUser, type Library } from '../testing/package-user.js';
import { Workspace } from '../testing/workspace.js';

/** A library and the ground that it stands on. */
function withGround(library: Library): Library[] {
  const { dependencies = {} } = library.manifest;
  return LIBRARIES.filter(({ name }) => name === library.name || name in dependencies);
}

describe.each(LIBRARIES)(
  'the package $name, installed with nothing of ours but its ground',
  (library) => {
    it('is imported by CommonJS and by an ES module, and brings its types', () => {
      using workspace = new Workspace();
      const user = new PackageUser(workspace.path('project'));
      user.install(withGround(library));
      expect(user.loads(library)).toMatchObject({ imported: 'function', required: 'function' });
      user.compiles([library], 'nodenext');
    });
  },
);
