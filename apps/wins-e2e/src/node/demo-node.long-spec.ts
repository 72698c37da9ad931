import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from '../testing/built-program.js';
import { ROOT, Workspace } from '../testing/workspace.js';

it('is shown by npm run demo:node, from nothing to joined to gone, with no file left behind', async () => {
  using workspace = new Workspace();
  const temporary = workspace.path('tmp');
  mkdirSync(temporary);
  const { code, stdout, stderr } = await startProgram(
    process.execPath,
    [path.join(ROOT, 'tools', 'demo-node.mjs'), '--built'],
    { ...workspace.environment, TMPDIR: temporary },
  ).outcome;
  expect([code, stderr]).toEqual([0, '']);
  expect(String(stdout)).toMatch(/The demo succeeded\.\n$/);
  expect(String(stdout)).not.toContain('token-of-the-demo');
});
