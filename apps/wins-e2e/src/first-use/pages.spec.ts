import { existsSync } from 'node:fs';
import path from 'node:path';
import { blocksOf, PAGES, pageText, shownOutput } from '../testing/pages/page.js';
import { ShellSession } from '../testing/pages/shell-session.js';
import { BARE_NODE, commandsOfNode } from '../testing/pages/windows-commands.js';
import { ROOT } from '../testing/workspace.js';

/** Pages whose shell blocks run unchanged. A text block shows the expected output of the shell block above it. */
const RUN = ['README.md', 'docs/getting-started.md'];
/** Commands that CI runs separately. */
const BY_CI = /^npm (ci|test|run [a-z:]+)( .*)?$/;
/** package-examples.long-spec.ts runs some of these commands; the others need a Windows node, a cluster or a registry. */
const ELSEWHERE =
  /^(tar -xf|npm install --offline|npm publish|kubectl|helm|docker|sc\.exe|icacls|Get-\w+|New-Item|Set-Content|Copy-Item|\$env:|(\.\\)?wins(-upgrade)?\.exe|.*\\wins-upgrade\.exe) ?/;

const commandsOf = (text: string) =>
  text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/ +#.*/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

const isDoneByCi = (text: string) => commandsOf(text).every((command) => BY_CI.test(command));

describe('the pages', () => {
  it.each(RUN)('%s: its commands print what it shows', async (page) => {
    await using session = new ShellSession({ wins: page !== 'README.md' });
    if (page === 'docs/getting-started.md') await session.run(BARE_NODE);
    let printed = '';
    let ran = 0;
    for (const { language, text, line } of blocksOf(pageText(page))) {
      if (language === 'powershell' || (language === 'sh' && !isDoneByCi(text))) {
        printed = await session.run(language === 'sh' ? text : commandsOfNode(text));
        ran += 1;
      } else if (language === 'text') {
        expect({ line, printed }).toEqual({
          line,
          printed: expect.stringMatching(shownOutput(text)) as unknown,
        });
      }
    }
    expect(ran).toBeGreaterThan(2);
    if (page === 'README.md') expect(await session.run('jobs -r')).toBe('');
  });

  it('have no other command in a block that nothing tries', () => {
    const { scripts } = JSON.parse(pageText('package.json')) as {
      scripts: Record<string, string>;
    };
    const untried: string[] = [];
    for (const page of PAGES.filter((name) => !RUN.includes(name)))
      for (const { language, text } of blocksOf(pageText(page)))
        for (const command of ['sh', 'powershell'].includes(language) ? commandsOf(text) : []) {
          const [, script] = /^npm run ([a-z:]+)/.exec(command) ?? [];
          const [, file] = /^node (\S+)/.exec(command) ?? [];
          const isTried =
            script !== undefined
              ? script in scripts
              : file !== undefined
                ? existsSync(path.join(ROOT, file))
                : BY_CI.test(command) || ELSEWHERE.test(command) || /^(wins|npx nx) /.test(command);
          if (!isTried) untried.push(`${page}: ${command}`);
        }
    expect(untried).toEqual([]);
  });

  it('come with the license that package.json names', () => {
    const { license } = JSON.parse(pageText('package.json')) as { license: string };
    expect(license).toBe('Apache-2.0');
    expect(pageText('LICENSE')).toMatch(/^\s+Apache License\n\s+Version 2\.0, January 2004\n/);
    expect(pageText('README.md')).toContain('[Apache-2.0](LICENSE)');
  });

  it('are all reached from the README in one step', () => {
    const readme = pageText('README.md');
    const unreached = PAGES.filter((page) => page !== 'README.md' && !readme.includes(`(${page}`));
    expect(unreached).toEqual([]);
  });

  it('have no link that leads nowhere', () => {
    const broken = PAGES.flatMap((page) =>
      [...pageText(page).matchAll(/\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)/g)]
        .filter(([, file = '', anchor]) => !isThere(page, file, anchor))
        .map(([link]) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

function isThere(page: string, file: string, anchor: string | undefined): boolean {
  const target = file === '' ? page : path.join(path.dirname(page), file);
  if (!existsSync(path.join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  const anchors = [...pageText(target).matchAll(/^#+ (.*)$/gm)].map(
    ([, title = '']) =>
      `#${title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')}`,
  );
  return anchors.includes(anchor);
}
