import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

const tool = path.join(import.meta.dirname, 'only-documentation.mjs');
const nxJson = readFileSync(path.join(import.meta.dirname, '../../nx.json'), 'utf8');

describe('a change since the base', () => {
  /** @type {string} */
  let clone;
  /** @param {...string} args */
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: clone,
      encoding: 'utf8',
    }).trim();
  /** @param {string} file */
  const change = (file) => {
    mkdirSync(path.dirname(path.join(clone, file)), { recursive: true });
    writeFileSync(path.join(clone, file), `${file} of ${git('rev-list', '--count', '--all')}\n`);
    git('add', '-A');
    git('commit', '-qm', file);
    return git('rev-parse', 'HEAD~1');
  };
  /** @param {string} base */
  const isDocumentation = (base) =>
    spawnSync(process.execPath, [tool], { cwd: clone, env: { ...process.env, NX_BASE: base } })
      .status === 0;

  before(() => {
    clone = mkdtempSync(path.join(tmpdir(), 'wins-documentation-'));
    git('init', '-q');
    writeFileSync(path.join(clone, 'nx.json'), nxJson);
    git('add', '-A');
    git('commit', '-qm', 'first');
  });
  after(() => rmSync(clone, { recursive: true }));

  it('of pages is documentation alone', () => {
    const base = change('docs/adr/0001.md');
    change('libs/base/README.md');
    assert.equal(isDocumentation(base), true);
  });

  it('of code is not, although a page changed after it', () => {
    const base = change('libs/base/src/index.ts');
    change('README.md');
    assert.equal(isDocumentation(base), false);
  });

  it('is not known without a base, and with a base that is no commit', () => {
    change('docs/index.md');
    assert.equal(isDocumentation(''), false);
    assert.equal(isDocumentation('--output=x'), false);
    assert.equal(isDocumentation('no-such-commit'), false);
  });
});
