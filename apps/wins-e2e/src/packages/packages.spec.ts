import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import {
  exampleOf,
  LIBRARIES,
  PackageUser,
  REPOSITORY,
  type Library,
  type Resolution,
} from '../testing/package-user.js';
import { Workspace } from '../testing/workspace.js';

describe('the packages of the libraries, installed together', () => {
  const workspace = new Workspace();
  const user = new PackageUser(workspace.path('project'));
  beforeAll(() => user.install(LIBRARIES));
  afterAll(() => workspace[Symbol.dispose]());

  it.each<Resolution>(['node16', 'nodenext', 'bundler'])(
    'bring their types to %s, for which the examples compile',
    (resolution) => user.compiles(LIBRARIES, resolution),
  );

  describe('have a README', () => {
    const hello = workspace.script('hello', 'echo "hello $1"');
    let daemon: Daemon;
    beforeAll(async () => {
      daemon = await Daemon.start(workspace, workspace.config([hello]));
    });
    afterAll(() => daemon[Symbol.asyncDispose]());
    const readmeOf = ({ folder }: Library): string =>
      readFileSync(path.join(folder, 'README.md'), 'utf8');

    it.each(LIBRARIES)('$name: its example prints what it says', (library) => {
      const example = readFileSync(exampleOf(library.folder), 'utf8');
      expect(readmeOf(library)).toContain(`\`\`\`ts\n${example}\`\`\``);
      const printed = user.runs(library, [hello], workspace.environment);
      expect(readmeOf(library)).toContain(`\`\`\`text\n${printed}\`\`\``);
    });

    it.each(LIBRARIES)('$name: it says how to install it, and what it does not do', (library) => {
      expect(readmeOf(library)).toContain(`\`\`\`sh\nnpm install ${library.name}`);
      expect(readmeOf(library)).toContain('\n## What it does not do\n');
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
      expect(files.filter((file) => /\.spec\.|tsbuildinfo|\.map$|^src/.test(file))).toEqual([]);
    });

    it('says what it is, where it comes from and whom to tell', () => {
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
