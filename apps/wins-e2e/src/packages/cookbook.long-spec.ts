/** @needs examples */
import path from 'node:path';
import { testCookbook } from '../testing/packages/test-cookbook.js';
import { librariesFolder } from '../testing/packages/package-folder.js';

describe.each([
  ['es-module', '.mjs'],
  ['commonjs', '.cjs'],
])('the cookbook, with the packages of the archive, as %s', (form, end) => {
  testCookbook((name) => path.join(librariesFolder(), 'built', form, name + end));
});
