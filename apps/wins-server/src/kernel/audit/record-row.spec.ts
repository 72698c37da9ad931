import { RECORD_HEAD, recordRow } from './record-row.js';

describe('a record for people', () => {
  const record = { seq: 7, prev: 'x', time: '2026-03-01T12:00:00.000Z', kind: 'start' };

  it('is a line under a head', () => {
    const line = recordRow({
      ...record,
      verdict: 'allowed',
      requester: 'pipe:1',
      path: '/a b',
      n: 1,
    });
    expect(line).toBe(
      '2026-03-01T12:00:00.000Z  7         start           allowed   pipe:1        path=/a b n=1',
    );
    expect(RECORD_HEAD.indexOf('FACTS')).toBe(line.indexOf('path='));
  });

  it('does not steer the terminal', () => {
    const line = recordRow({ ...record, requester: '\u009b2J', path: '\u001b[2J\n\u202e' });
    expect(line).toContain(String.raw`\u009b2J`);
    expect(line).toContain(String.raw`path=\u001b[2J\u000a\u202e`);
    expect(recordRow({ ...record, path: 'x'.repeat(5000) }).length).toBeLessThan(600);
  });
});
