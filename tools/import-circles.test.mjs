import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { findCircles, folderOf } from './import-circles.mjs';

const root = path.resolve(import.meta.dirname, '..');
const FOLDER = 'libs/base/src';
const circlesOf = (texts, nodeOf) =>
  findCircles(
    root,
    Object.entries(texts).map(([name, text]) => ({ file: `${FOLDER}/${name}.ts`, text })),
    nodeOf,
  ).map((circle) => circle.map((file) => path.basename(file, '.ts')));

test('a file that imports another one is no circle', () => {
  assert.deepEqual(circlesOf({ a: "import { b } from './b.js';", b: '' }), []);
});

for (const [what, text] of [
  ['a value', "import { a } from './a.js';"],
  ['a type', "import type { A } from './a.js';"],
  ['what it gives on', "export { a } from './a.js';"],
  ['a type without a statement', "type A = typeof import('./a.js');"],
  ['a file when it is called', "const a = () => import('./a.js');"],
])
  test(`a circle is found by the import of ${what}`, () => {
    assert.deepEqual(circlesOf({ a: "import './b.js';", b: text }), [['a', 'b', 'a']]);
  });

test('a circle over three files is shown with its way, and once', () => {
  const texts = {
    a: "import './b.js';",
    b: "import './c.js';",
    c: "import './a.js';",
    d: "import './a.js';",
  };
  assert.deepEqual(circlesOf(texts), [['a', 'b', 'c', 'a']]);
});

test('a circle is found over the name of the own package', () => {
  const texts = { index: "export { a } from './a.js';", a: "import '@wins/base';" };
  assert.deepEqual(circlesOf(texts), [['index', 'a', 'index']]);
});

test('an import in a comment counts for nothing', () => {
  assert.deepEqual(circlesOf({ a: "import './b.js';", b: "// import './a.js';" }), []);
});

const foldersOf = (texts) => circlesOf(texts, folderOf);

test('folders are a circle, although their files are none', () => {
  const texts = {
    'one/a': "import type { B } from '../two/b.js';",
    'one/c': '',
    'two/b': '',
    'two/d': "import '../one/deep/c.js';",
    'one/deep/c': '',
  };
  assert.deepEqual(circlesOf(texts), []);
  assert.deepEqual(foldersOf(texts), [['one', 'two', 'one']]);
});

test('files of one folder are no circle of folders', () => {
  assert.deepEqual(foldersOf({ 'one/a': "import './deep/b.js';", 'one/deep/b': '' }), []);
});

test('each feature is a folder, and each file outside of all folders too', () => {
  const texts = {
    'features/x/a': "import '../y/b.js';",
    'features/y/b': "import '../../list.js';",
    list: "import './features/x/c.js';",
    'features/x/c': '',
  };
  assert.deepEqual(foldersOf(texts), [['x', 'y', 'list', 'x']]);
  assert.deepEqual(foldersOf({ ...texts, list: '' }), []);
});
