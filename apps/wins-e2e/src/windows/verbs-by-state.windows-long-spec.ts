import assert from 'node:assert/strict';
import { it } from 'node:test';
import { documentedTable, SCRIPT, tableOfVerbs } from '../testing/verbs-by-state.js';
import { WindowsWorkspace } from './windows-workspace.js';

it('each verb does in each state of a detached run on Windows what docs/lasting-runs.md says', async () => {
  const workspace = new WindowsWorkspace();
  const script = workspace.script('program', SCRIPT);
  const entry = (name: string, restart: object) => ({
    path: workspace.program(name),
    stopSignal: 'CTRL_BREAK',
    lasting: { allow: true, maxRuns: 16, spoolBytes: 2 ** 20, restart },
  });
  const patient = entry('patient', { delayMs: 3_600_000, maxDelayMs: 3_600_000 });
  const hasty = entry('hasty', { delayMs: 1, maxDelayMs: 1 });
  const config = workspace.config([patient, hasty]);
  const daemon = workspace.start('srv', 'app', 'run', '--config', config);
  await daemon.said('"msg":"ready"');
  const found = await tableOfVerbs({
    prc: (...words) => workspace.client('prc', ...words),
    patient: ['--path', patient.path, '--', script],
    hasty: ['--path', hasty.path, '--', script],
    path: (name) => workspace.path(name),
  });
  assert.deepEqual(found, documentedTable());
  await workspace.remove();
});
