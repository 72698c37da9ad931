import { root } from '../commands/root.js';

it('lays out text whose characters take one column each, because it counts characters', () => {
  expect(JSON.stringify(root)).toMatch(/^[\x20-\x7e…]*$/);
});
