import { factHead, factRow } from './fact-row.js';

describe('a record for people', () => {
  const widths = [24, 8, 14];
  const time = '2026-03-01T12:00:00.000Z';

  it('is a line under a head', () => {
    const line = factRow(widths, [time, '7', 'start'], { path: '/a b', n: 1, none: undefined });
    expect(line).toBe('2026-03-01T12:00:00.000Z  7         start           path="/a b" n=1 none=');
    expect(factHead(widths, ['TIME', 'SEQ', 'KIND']).indexOf('FACTS')).toBe(line.indexOf('path='));
  });

  it('does not steer the terminal', () => {
    const line = factRow(widths, [time, '\u009b2J'], { path: '\u001b[2J\n\u202e' });
    expect(line).toContain(String.raw`\u009b2J`);
    expect(line).toContain(String.raw`path="\u001b[2J\n\u202e"`);
    expect(factRow(widths, [time], { path: 'x'.repeat(5000) }).length).toBeLessThan(600);
  });
});
