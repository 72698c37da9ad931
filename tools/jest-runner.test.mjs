import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const LOADED = `require('./counted.js');`;

describe('spec files that run together', () => {
  /** @type {string} */
  let folder;
  /**
   * @param {...string} args
   * @returns {{ isGreen: boolean, printed: string, loads: number, passed: number, files: string[], failures: string[] }}
   */
  const run = (...args) => {
    writeFileSync(path.join(folder, 'loads'), '');
    const { status, stderr } = spawnSync(process.execPath, [jest, '--maxWorkers=1', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    const summary = readFileSync(path.join(folder, 'test-output/summary.json'), 'utf8');
    const { passed, files, failures } = JSON.parse(summary);
    return {
      isGreen: status === 0,
      printed: stderr,
      loads: readFileSync(path.join(folder, 'loads'), 'utf8').length,
      passed,
      files: files.map(({ file }) => file),
      failures: failures.map(({ file, title }) => `${file}: ${title}`),
    };
  };

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-jest-runner-'));
    mkdirSync(path.join(folder, 'src'));
    const files = {
      'package.json': '{}',
      'jest.config.js': `module.exports = {
        runner: ${JSON.stringify(path.join(import.meta.dirname, 'jest-runner.js'))},
        reporters: ['default', ${JSON.stringify(path.join(import.meta.dirname, 'jest-summary-reporter.js'))}],
        testMatch: ['<rootDir>/src/*.spec.js'],
      };`,
      'src/counted.js': `require('node:fs').appendFileSync(__dirname + '/../loads', '.');`,
      'src/a.spec.js': `${LOADED} afterEach(() => { globalThis.hooks = (globalThis.hooks ?? 0) + 1; });
        describe('a', () => { it('passes', () => {}); });`,
      'src/b.spec.js': `${LOADED} it('passes', () => {}); it.skip('is left out', () => {});
        it('has no hooks of others', () => expect(globalThis.hooks).toBe(1));`,
      'src/c.spec.js': `${LOADED} describe('c', () => { it('fails', () => expect(1).toBe(2)); });`,
      'src/d.spec.js': `throw new Error('cannot load');`,
      'src/e.spec.js': `// no test`,
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('share their modules, and have one result each', () => {
    const { isGreen, loads, passed, files } = run('src/a.spec.js', 'src/b.spec.js');
    assert.deepEqual([isGreen, loads, passed], [true, 1, 3]);
    assert.deepEqual(files, ['src/a.spec.js', 'src/b.spec.js']);
  });

  it('fail each for itself: a test, a file that does not load, and a file without tests', () => {
    const { isGreen, printed, passed, failures } = run();
    assert.deepEqual([isGreen, passed], [false, 3]);
    assert.deepEqual(failures, [
      'src/c.spec.js: c fails',
      'src/d.spec.js: the file loads',
      'src/e.spec.js: the file could not be run',
    ]);
    assert.match(printed, /FAIL src\/c\.spec\.js\n {2}● c › fails\n/);
    assert.match(printed, /cannot load/);
  });

  it('load their modules anew if tests are chosen by name', () => {
    const { isGreen, loads, passed } = run('-t', '^a passes', 'src/a.spec.js', 'src/b.spec.js');
    assert.deepEqual([isGreen, loads, passed], [true, 2, 1]);
  });
});
