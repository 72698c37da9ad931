import { createWinsClient } from '@wins/wins-api';
import { Daemon } from '../testing/daemon.js';
import { startWinsInThread } from '../testing/built-program.js';
import { startRequest } from '../testing/digests.js';
import { documentedTable, SCRIPT, tableOfVerbs } from '../testing/verbs-by-state.js';
import { Workspace } from '../testing/workspace.js';

it('each verb does in each state of a detached run what docs/detached-runs.md says', async () => {
  using workspace = new Workspace();
  const program = (name: string, restart: object) => {
    const path = workspace.script(name, SCRIPT);
    return { path, detached: { allow: true, maxRuns: 16, spoolBytes: 2 ** 20, restart } };
  };
  const patient = program('patient', { delayMs: 3_600_000, maxDelayMs: 3_600_000 });
  const hasty = program('hasty', { delayMs: 1, maxDelayMs: 1 });
  const config = workspace.config([patient, hasty]);
  await using daemon = await Daemon.start(workspace, config);
  const ready = await daemon.logged(({ msg }) => msg === 'ready');
  await using client = createWinsClient({ address: String(ready['address']) });
  const found = await tableOfVerbs({
    prc: (...words) => startWinsInThread(['cli', 'prc', ...words], workspace.environment),
    client,
    patient: startRequest(patient.path),
    hasty: startRequest(hasty.path),
    path: (name) => workspace.path(name),
  });
  expect(found).toEqual(documentedTable());
});
