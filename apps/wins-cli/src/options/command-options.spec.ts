import { durationOption } from './command-options.js';

describe('an option that is a duration', () => {
  const { coerce } = durationOption('wait-timeout', '0s', 'How long to wait');

  it('is at most a day', () => {
    expect(coerce('24h')).toBe(86_400_000);
    expect(() => coerce('900h')).toThrow(
      '--wait-timeout: found "900h"; wanted a duration from 0s to 1d, such as 500ms, 90s or 1m30s',
    );
  });
});
