// Only reads files; packages.long-spec.ts packs and installs the libraries, and package-examples.long-spec.ts runs their examples.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LIBRARIES, readmeOf } from '../testing/packages/package-user.js';
import { ROOT } from '../testing/workspace.js';

describe('the READMEs of the packages', () => {
  it.each(LIBRARIES)(
    '$name: it says how to install it, promises nothing that is not published, and what it does not do',
    (library) => {
      expect(readmeOf(library)).toContain('](../../docs/libraries.md#install)');
      expect(readmeOf(library)).not.toMatch(/npm (?:i|install|add) @wins/);
      expect(readmeOf(library)).toContain('\n## What it does not do\n');
    },
  );
});

describe('the page about the libraries', () => {
  const page = readFileSync(path.join(ROOT, 'docs/libraries.md'), 'utf8');

  it.each(LIBRARIES)('leads to $name by its job', ({ folder }) => {
    expect(page).toContain(`](../libs/${path.basename(folder)}/README.md)`);
  });

  it('has the options of bundlers with which the examples are bundled', () => {
    const tool = readFileSync(path.join(ROOT, 'tools/libraries/build-examples.mjs'), 'utf8');
    const [, banner = 'missing'] = /--banner:js="([^"]+)"/.exec(page) ?? [];
    expect(tool).toContain(banner);
    expect(tool).toContain("target: 'node20'");
  });
});
