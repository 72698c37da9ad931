import { inspect } from 'node:util';
import { reporter } from './reporter.js';
import { failingCallbacks } from './testing/index.js';

describe('a reporter', () => {
  it('passes its arguments to the callback at once', () => {
    const told: unknown[] = [];
    const report = reporter((...given: readonly [string, number]) => told.push(given));
    report('first', 1);
    report('second', 2);
    expect(told).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
  });

  it('does nothing without a callback', () => {
    expect(() => reporter(undefined)()).not.toThrow();
  });

  it.each(
    failingCallbacks({
      'a callback': (callback) => reporter(callback)(),
      'an async callback': (callback) => reporter(async () => Promise.resolve(await callback()))(),
      'a callback with a promise of another library': (callback) =>
        reporter(() => ({
          then: (_fulfilled: unknown, rejected: (error: unknown) => void) =>
            Promise.resolve().then(callback).catch(rejected),
        }))(),
      'a callback with an error that cannot be shown': (callback) =>
        reporter(() => {
          Promise.resolve()
            .then(callback)
            .catch(() => undefined);
          throw Object.assign(new Error('odd'), {
            [inspect.custom]: () => {
              throw new Error('not to be shown');
            },
          });
        })(),
      'a callback without an error': (callback) =>
        reporter(() => {
          Promise.resolve()
            .then(callback)
            .catch(() => undefined);
          throw Object.create(null);
        })(),
    }),
  )('only warns when %s', (_name, play) => play());
});
