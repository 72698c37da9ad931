/** @needs examples */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import {
  EXAMPLE_FORMS,
  EXAMPLES,
  examplesOf,
  importsOf,
  LIBRARIES,
  libraryOf,
  nodeLines,
  PackageUser,
  readmeOf,
  REPOSITORY,
  type Library,
  type Resolution,
} from '../testing/packages/package-user.js';
import { librariesFolder } from '../testing/packages/package-folder.js';
import { blocksOf, pageText } from '../testing/pages/page.js';
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

  describe('have a README', () => {
    const hello = workspace.script('hello', 'echo "hello $1"');
    let daemon: Daemon;
    beforeAll(async () => {
      user.buildExamples();
      daemon = await Daemon.start(workspace, workspace.config([hello]));
    });
    afterAll(() => daemon[Symbol.asyncDispose]());

    describe.each([...nodeLines()])('whose example runs on Node %s', (_, node) => {
      it.each(sampleOf(EXAMPLES, 2))('%s: for either module system', (example) => {
        for (const form of ['an ES module', 'CommonJS'] as const) {
          const printed = user.runs(example, form, [hello], workspace.environment, node);
          expect(readmeOf(libraryOf(example))).toContain(`\`\`\`text\n${printed}\`\`\``);
        }
      });
    });

    describe.each(EXAMPLE_FORMS)('whose example is %s', (form) => {
      it.each(sampleOf(EXAMPLES, 4))('%s: it prints what the README says', (example) => {
        const printed = user.runs(example, form, [hello], workspace.environment);
        expect(readmeOf(libraryOf(example))).toContain(`\`\`\`text\n${printed}\`\`\``);
      });
    });
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

describe('the archive of all packages', () => {
  it('is installed by the commands of its page, without a registry', () => {
    using workspace = new Workspace();
    const [archive = 'missing'] = readdirSync(librariesFolder()).filter((name) =>
      name.endsWith('.tar'),
    );
    cpSync(path.join(librariesFolder(), archive), workspace.path(archive));
    const commands = blocksOf(pageText('docs/libraries.md')).find(({ text }) =>
      text.startsWith('tar '),
    );
    writeFileSync(workspace.path('package.json'), '{ "private": true }');
    // Give the commands no packages but the archive's: the cache is empty, and nothing listens at the registry.
    const npm = {
      npm_config_cache: workspace.path('cache'),
      npm_config_registry: 'http://127.0.0.1:9',
    };
    const options = { cwd: workspace.folder, env: { ...process.env, ...npm } };
    execFileSync('sh', ['-ec', commands?.text ?? 'exit 1'], { ...options, stdio: 'pipe' });
    const source = `import '@wins/config'; import '@wins/wins-api'; import { linuxClients } from '@wins/linux-host'; console.log(typeof linuxClients());`;
    const args = ['--input-type=module', '--eval', source];
    expect(execFileSync(process.execPath, args, { ...options, encoding: 'utf8' })).toBe(
      'function\n',
    );
  });
});

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
