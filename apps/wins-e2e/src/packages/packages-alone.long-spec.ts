import {
  examplesOf,
  importsOf,
  LIBRARIES,
  PackageUser,
  type Library,
} from '../testing/packages/package-user.js';
import { sampleOf } from '../testing/sample.js';
import { Workspace } from '../testing/workspace.js';

function withGround(library: Library): Library[] {
  const { dependencies = {} } = library.manifest;
  const imported = examplesOf(library).flatMap(importsOf);
  const isUsed = ({ name }: Library): boolean =>
    name === library.name || name in dependencies || imported.includes(name);
  const used = LIBRARIES.filter(isUsed);
  const below = new Set(used.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {})));
  return LIBRARIES.filter((one) => used.includes(one) || below.has(one.name));
}

// Lint compares every manifest with the imports, so a sample is enough here.
describe.each(sampleOf(LIBRARIES, 2))(
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
