import { decisionMessage, recordRule, type DecidedAction, type Decision } from './decision.js';

describe('a decision in words', () => {
  it.each<[Omit<Decision, 'requester'>, string]>([
    [
      { action: 'start', verdict: 'refused', path: '/bin/ls', rule: 'A15 not listed' },
      'refused to start "/bin/ls": not listed',
    ],
    [
      { action: 'start', verdict: 'refused', path: '/bin/ls', code: 'alreadyRunning' },
      'refused to start "/bin/ls": already running',
    ],
    [
      { action: 'start', verdict: 'allowed', path: '/bin/ls', rule: '/bin/ls' },
      'allowed to start "/bin/ls"',
    ],
    [
      { action: 'stop', verdict: 'refused', name: 'a.b', code: 'auditUnavailable' },
      'refused to stop "a.b": audit unavailable',
    ],
    [
      { action: 'connect', verdict: 'refused', port: 22, address: 'x', rule: 'port-not-listed' },
      'refused to connect to port 22: not listed',
    ],
    [
      { action: 'connect', verdict: 'refused', address: '10.0.0.1:22', rule: 'host-loopback' },
      'refused to connect to "10.0.0.1:22": only the loopback of the host is reachable',
    ],
    [
      { action: 'addRoutes', verdict: 'failed', code: 'accessDenied' },
      'failed to add routes to the host: access denied',
    ],
    [
      { action: 'upgrade', verdict: 'allowed', outcome: 'rolledBack' },
      'an upgrade has ended: rolledBack',
    ],
    [{ action: 'upgrade', verdict: 'allowed' }, 'allowed to upgrade the service'],
  ])('%j: %s', (decision, message) => {
    expect(decisionMessage({ requester: 'pipe:1', ...decision } as Decision)).toBe(message);
  });

  it('quotes and shortens the text of a client', () => {
    const path = `/x\n{"level":"fatal"}\u001b[2J${'y'.repeat(1000)}`;
    const message = decisionMessage({
      action: 'start',
      verdict: 'refused',
      requester: 'pipe:1',
      path,
      rule: 'A21 guarded variable',
      variable: '\u202e'.repeat(1000),
    });
    expect(message).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(message).toMatch(
      /^refused to start "\/x\\n\{\\"level\\":\\"fatal\\"\}\\u001b\[2Jy+…": guarded variable "/,
    );
    expect(message.length).toBeLessThan(1000);
  });
});

describe('the record of a decision', () => {
  const rule = (action: DecidedAction, verdict: 'allowed' | 'refused' = 'allowed') =>
    recordRule({ action, verdict, requester: 'pipe:1', mark: 'r' });
  const flood = { client: 'pipe:1', verdict: 'allowed' };

  it.each<DecidedAction>(['start', 'addRoutes', 'removeRoutes', 'upgrade'])(
    'is on the disk before an allowed %s, and always written out',
    (action) => {
      expect(rule(action)).toEqual({ when: 'before' });
    },
  );

  it('is on the disk before a stop, and counted when the same is stopped again and again', () => {
    expect(rule('stop')).toEqual({ when: 'before', flood: { ...flood, actionId: 'r' } });
  });

  it.each<DecidedAction>(['wait', 'keepAlive', 'connect'])(
    'is possible when %s is granted',
    (action) => {
      expect(rule(action)).toEqual({ when: 'with', flood });
    },
  );

  it.each<DecidedAction>(['getVersion', 'listRoutes'])('of %s holds nothing up', (action) => {
    expect(rule(action)).toEqual({ when: 'after', flood });
  });

  it.each<DecidedAction>(['start', 'stop', 'connect', 'addRoutes'])(
    'of a refused %s is counted',
    (action) => {
      expect(rule(action, 'refused')).toEqual({
        when: 'after',
        flood: { client: 'pipe:1', verdict: 'refused' },
      });
    },
  );
});
