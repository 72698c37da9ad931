import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { judgeDelivery } from './judge-delivery.js';

it('refuses a merge in one line, whatever the number of its faults', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-judge-'));
  const [from, to] = [path.join(folder, 'from'), path.join(folder, 'to')];
  writeFileSync(from, 'debug: maybe\nlisten: [a]\n');
  const judged = await judgeDelivery({ from, to, merge: true, allowDrop: [] });
  expect(judged).toMatchObject({
    kind: 'refused',
    reason: expect.stringMatching(/^\S+from:1:8: debug: .*; \S+from:2:9: listen: .*$/) as string,
  });
  rmSync(folder, { recursive: true });
});
