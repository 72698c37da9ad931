// What is read; packages.long-spec.ts packs the libraries, installs them and runs their examples.
import { readFileSync } from 'node:fs';
import { exampleOf, LIBRARIES, readmeOf } from '../testing/packages/package-user.js';

describe('the READMEs of the packages', () => {
  it.each(LIBRARIES)('$name: it says how to install it, and what it does not do', (library) => {
    expect(readmeOf(library)).toContain(`\`\`\`sh\nnpm install ${library.name}`);
    expect(readmeOf(library)).toContain('\n## What it does not do\n');
  });

  it.each(LIBRARIES)('$name: it has the text of its example', (library) => {
    const example = readFileSync(exampleOf(library.folder), 'utf8');
    expect(readmeOf(library)).toContain(`\`\`\`ts\n${example}\`\`\``);
  });
});
