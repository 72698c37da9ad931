import { readFileSync } from 'node:fs';
import { exampleOf, LIBRARIES, PackageUser, type Library } from '../testing/package-user.js';
import { Workspace } from '../testing/workspace.js';

/** A library, the ground that it stands on, and what its example is made of besides. */
function withGround(library: Library): Library[] {
  const { dependencies = {} } = library.manifest;
  const example = readFileSync(exampleOf(library.folder), 'utf8');
  const isUsed = ({ name }: Library): boolean =>
    name === library.name || name in dependencies || example.includes(`'${name}'`);
  const used = LIBRARIES.filter(isUsed);
  const below = new Set(used.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {})));
  return LIBRARIES.filter((one) => used.includes(one) || below.has(one.name));
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
