import { UpgradeLog } from './upgrade-log.js';

it('a line of the log controls no terminal, whatever text is in it', () => {
  const lines: string[] = [];
  const found = 'release \u009b2J\u202e\u2028';
  new UpgradeLog((line) => lines.push(line)).write('failed', { found });
  expect(lines).toEqual([expect.stringMatching(/^[\x20-\x7e]+\n$/)]);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'failed', found });
});
