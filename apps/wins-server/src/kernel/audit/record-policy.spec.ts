import { recordRule } from './record-policy.js';

describe('the record of a decision', () => {
  const rule = (action: string, verdict = 'allowed') =>
    recordRule({ action, verdict, requester: 'pipe:1', mark: 'r' });
  const flood = { client: 'pipe:1', verdict: 'allowed' };

  it.each(['start', 'addRoutes', 'removeRoutes', 'upgrade'])(
    'is on the disk before an allowed %s, and always written out',
    (action) => {
      expect(rule(action)).toEqual({ when: 'before' });
    },
  );

  it('is on the disk before a stop, and counted when the same is stopped again and again', () => {
    expect(rule('stop')).toEqual({ when: 'before', flood: { ...flood, act: 'r' } });
  });

  it.each(['wait', 'keepAlive', 'connect'])('is possible when %s is granted', (action) => {
    expect(rule(action)).toEqual({ when: 'with', flood });
  });

  it.each(['getVersion', 'listRoutes'])('of %s holds nothing up', (action) => {
    expect(rule(action)).toEqual({ when: 'after', flood });
  });

  it.each(['start', 'stop', 'connect', 'addRoutes'])('of a refused %s is counted', (action) => {
    expect(rule(action, 'refused')).toEqual({
      when: 'after',
      flood: { client: 'pipe:1', verdict: 'refused' },
    });
  });
});
