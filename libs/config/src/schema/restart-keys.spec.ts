import { parseConfig } from '../parse/parse-config.js';
import { DEFAULT_BACKOFF } from './restart-keys.js';

const keep = (restart: unknown) =>
  parseConfig(JSON.stringify({ keep: [{ path: '/opt/x', restart }] })).config.keep[0]?.restart;
const detached = (restart: unknown) =>
  parseConfig(
    JSON.stringify({
      white_list: { processPaths: [{ path: '/opt/x', detached: { allow: true, restart } }] },
    }),
  ).config.whiteList.processPaths[0]?.detached?.restart;

describe('the restarts of a program', () => {
  it.each([
    ['always', { policy: 'always' }],
    ['on-failure:3', { policy: 'on-failure:3' }],
    [{ policy: 'no' }, { policy: 'no' }],
    [{ delayMs: 5 }, { policy: 'always', delayMs: 5 }],
    [
      { giveUpAfter: 9, maxDelayMs: 1000 },
      { policy: 'always', giveUpAfter: 9, maxDelayMs: 1000 },
    ],
  ])('that is kept are a policy alone, or a section: %j', (restart, wanted) => {
    expect(keep(restart)).toEqual({ ...DEFAULT_BACKOFF, ...wanted });
  });

  it.each([
    [true, { allow: true }],
    [false, { allow: false }],
    [
      { delayMs: 5, giveUpAfter: 2 },
      { allow: true, delayMs: 5, giveUpAfter: 2 },
    ],
  ])('are granted to clients by a word, or a section: %j', (restart, wanted) => {
    expect(detached(restart)).toEqual({ ...DEFAULT_BACKOFF, ...wanted });
  });

  it('are granted only by the key', () => {
    expect(detached(undefined)).toBeUndefined();
  });

  it.each([
    [{ delayMs: 2, maxDelayMs: 1 }, 'at most maxDelayMs'],
    [{ delayMs: 0 }, 'milliseconds, a whole number from 1 to 86400000'],
    [{ giveUpAfter: 0 }, 'restarts, a whole number from 1 to 999999999'],
    [{ giveUp: 3 }, 'giveUp'],
  ])('are refused as %j', (restart, wanted) => {
    for (const read of [keep, detached]) expect(() => read(restart)).toThrow(wanted);
  });
});
