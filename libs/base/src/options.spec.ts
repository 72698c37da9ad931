import { withDefaults } from './options.js';

const defaults = { retries: 3, timeoutMs: 1000 };

describe('withDefaults', () => {
  it.each([
    ['nothing', undefined, defaults],
    ['no members', {}, defaults],
    ['undefined members', { retries: undefined, timeoutMs: undefined }, defaults],
    ['one member', { timeoutMs: 5 }, { retries: 3, timeoutMs: 5 }],
    ['zero', { retries: 0 }, { retries: 0, timeoutMs: 1000 }],
  ])('completes %s', (_given, options, wanted) => {
    expect(withDefaults(defaults, options)).toStrictEqual(wanted);
  });
});
