import { connectPipe } from '@wins/pipe-transport';
import { securedPipeClient } from '@wins/windows-host';
import { createWinsClient } from '@wins/wins-api';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startRequest } from '../testing/digests.js';
import { documentedTable, tableOfVerbs } from '../testing/verbs-by-state.js';
import { verbsProgram } from './verbs-program.js';
import { WindowsWorkspace } from './windows-workspace.js';

it('each verb does in each state of a detached run on Windows what docs/detached-runs.md says', async (test) => {
  const workspace = new WindowsWorkspace();
  test.after(() => workspace.remove());
  const entry = (name: string, restart: object) => ({
    path: workspace.write(`${name}.exe`, verbsProgram()),
    stopSignal: 'CTRL_BREAK',
    detached: { allow: true, maxRuns: 16, spoolBytes: 2 ** 20, restart },
  });
  const patient = entry('patient', { delayMs: 3_600_000, maxDelayMs: 3_600_000 });
  const hasty = entry('hasty', { delayMs: 1, maxDelayMs: 1 });
  const config = workspace.config([patient, hasty]);
  const daemon = workspace.start('srv', 'app', 'run', '--config', config);
  await daemon.said('"msg":"ready"');
  const dial = () => connectPipe(workspace.listen, { security: securedPipeClient() });
  await using client = createWinsClient({ address: workspace.listen, dial });
  const found = await tableOfVerbs({
    prc: (...words) => workspace.command('prc', ...words),
    client,
    patient: startRequest(patient.path),
    hasty: startRequest(hasty.path),
    // The program does not take file names with blanks. It is started in its own folder.
    path: (name) => name,
  });
  assert.deepEqual(found, documentedTable());
});
