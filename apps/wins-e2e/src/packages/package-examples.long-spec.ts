/** @needs examples */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Daemon } from '../testing/daemon.js';
import { librariesFolder } from '../testing/packages/package-folder.js';
import {
  EXAMPLE_FORMS,
  EXAMPLES,
  libraryOf,
  nodeLines,
  printedBy,
  readmeOf,
} from '../testing/packages/package-user.js';
import { blocksOf, pageText } from '../testing/pages/page.js';
import { sampleOf } from '../testing/sample.js';
import { Workspace } from '../testing/workspace.js';

describe('an example, installed from the archive of all packages, prints what its README says', () => {
  const workspace = new Workspace();
  const hello = workspace.script('hello', 'echo "hello $1"');
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await Daemon.start(
      workspace,
      workspace.config([{ path: hello, detached: { allow: true } }]),
    );
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  describe.each([...nodeLines()])('on Node %s', (_, node) => {
    it.each(sampleOf(EXAMPLES, 2))('%s: for either module system', (example) => {
      for (const form of ['an ES module', 'CommonJS'] as const) {
        const printed = printedBy(example, form, [hello], workspace, node);
        expect(readmeOf(libraryOf(example))).toContain(`\`\`\`text\n${printed}\`\`\``);
      }
    });
  });

  describe.each(EXAMPLE_FORMS)('as %s', (form) => {
    it.each(sampleOf(EXAMPLES, 4))('%s', (example) => {
      const printed = printedBy(example, form, [hello], workspace);
      expect(readmeOf(libraryOf(example))).toContain(`\`\`\`text\n${printed}\`\`\``);
    });
  });
});

describe('the archive of all packages, installed by the commands of its page without a registry', () => {
  const workspace = new Workspace();
  // Give the commands no packages but the archive's: the cache is empty, and nothing listens at the registry.
  const npm = {
    npm_config_cache: workspace.path('cache'),
    npm_config_registry: 'http://127.0.0.1:9',
  };
  const options = { cwd: workspace.folder, env: { ...process.env, ...npm } };
  beforeAll(() => {
    const [archive = 'missing'] = readdirSync(librariesFolder()).filter((name) =>
      name.endsWith('.tar'),
    );
    cpSync(path.join(librariesFolder(), archive), workspace.path(archive));
    const commands = blocksOf(pageText('docs/libraries.md')).find(({ text }) =>
      text.startsWith('tar '),
    );
    writeFileSync(workspace.path('package.json'), '{ "private": true }');
    execFileSync('sh', ['-ec', commands?.text ?? 'exit 1'], { ...options, stdio: 'pipe' });
  });
  afterAll(() => workspace[Symbol.dispose]());

  it('can be imported', () => {
    const source = `import '@wins/config'; import '@wins/wins-api'; import { linuxClients } from '@wins/linux-host'; console.log(typeof linuxClients());`;
    const args = ['--input-type=module', '--eval', source];
    expect(execFileSync(process.execPath, args, { ...options, encoding: 'utf8' })).toBe(
      'function\n',
    );
  });

  it('has one copy of each package, with its licence', () => {
    const { packages } = JSON.parse(
      readFileSync(workspace.path('node_modules/.package-lock.json'), 'utf8'),
    ) as { packages: Readonly<Record<string, { readonly license?: string }>> };
    const installed = Object.entries(packages).map(([folder, { license }]) => ({
      name: folder.split('node_modules/').at(-1) ?? folder,
      license,
      files: readdirSync(workspace.path(folder)),
    }));
    const names = installed.map(({ name }) => name).sort();
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(expect.arrayContaining(['koffi', 'semver', 'zod']));
    expect(installed.filter(({ license }) => license === undefined)).toEqual([]);
    const withoutText = installed.filter(
      ({ files }) => !files.some((file) => /^licen[cs]e/i.test(file)),
    );
    // Their makers publish no text with these. That of koffi contains @koromix.
    expect(withoutText.map(({ name }) => name).sort()).toEqual([
      '@bufbuild/protobuf',
      '@koromix/koffi-linux-x64',
      '@koromix/koffi-win32-x64',
    ]);
  });
});
