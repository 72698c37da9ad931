import assert from 'node:assert/strict';
import { startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { processesWith } from '../testing/process-table.js';
import type { Workspace } from '../testing/workspace.js';

/** Ends a daemon with `count` runs. All of them must end, every client must learn how its run ended, and nothing may be left. */
export async function drainsRuns(workspace: Workspace, count: number): Promise<void> {
  const programs = Array.from({ length: count }, (_, index) =>
    workspace.script(`many-${index}`, 'echo up; exec sleep 1000'),
  );
  await using daemon = await Daemon.start(workspace, workspace.config(programs));
  const clients = programs.map((program) =>
    startWins(['cli', 'prc', 'run', '--path', program], workspace.environment),
  );
  await Promise.all(clients.map((client) => client.printed('up')));
  const { code } = await daemon.stop();
  assert.equal(code, 0);
  const outcomes = await Promise.all(clients.map(({ outcome }) => outcome));
  assert.deepEqual(new Set(outcomes.map((outcome) => outcome.code)), new Set([143]));
  assert.equal(processesWith(workspace.path('rancher-wins-many')).join(), '');
  assert.ok(daemon.log.some(({ msg }) => msg === 'stopping'));
}
