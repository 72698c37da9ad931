import { clientLabel } from './client-label.js';

describe('the label of a client', () => {
  it.each([
    ['build-7.example', 'build-7.example'],
    ['пк-1', '??-1'],
    ['a b\r\nc\u007f', 'a?b??c?'],
    ['', 'unknown'],
    ['x'.repeat(300), 'x'.repeat(100)],
  ])('of %j is %j', (name, label) => {
    expect(clientLabel(name)).toBe(label);
  });
});
