import { ProcessError } from './index.js';

describe('the library, by its face', () => {
  it('keeps code, fields and cause of an error together', () => {
    const cause = new Error('deep');
    const error = new ProcessError('spawnFailed', 'no', {
      cause,
      path: '/a',
      mark: 'b',
      rule: 'A15 not listed',
    });
    expect(error).toMatchObject({ name: 'ProcessError', code: 'spawnFailed', cause });
    expect(error).toMatchObject({ path: '/a', mark: 'b', rule: 'A15 not listed' });
    expect(error).toBeInstanceOf(Error);
    expect(new ProcessError('unknown', 'no')).not.toHaveProperty('cause');
  });
});
