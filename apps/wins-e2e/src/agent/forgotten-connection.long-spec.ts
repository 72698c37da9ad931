import { existsSync } from 'node:fs';
import { startApiServer, startForgetfulBox } from '@wins/system-agent/testing';
import { PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

/** The daemon must notice within this time that a device forgot its connection, although the device answers for TCP. */
const NOTICED_MS = 110_000;

describe('a daemon whose connection to the API server is forgotten by a device on the way', () => {
  it.each(['open', 'all'] as const)(
    'notices that within 110 s: forgotten connections: %s',
    async (what) => {
      const api = await startApiServer();
      const box = await startForgetfulBox(api.url);
      await using node = new PlanNode();
      try {
        const run = (name: string): object => ({ instructions: [{ name, command: '/bin/true' }] });
        api.create({ plan: JSON.stringify(run('first')) });
        const info = node.workspace.write('info.json', api.connectionInfo({ server: box.url }));
        await node.start(node.config({ remoteEnabled: true, connectionInfoFile: info }));
        await until(() => String(api.data()['success-count']) === '1');
        // The agent removes this file once the agent's write is answered.
        const unwritten = node.workspace.path('agent/applied/state/unwritten.json');
        await until(() => !existsSync(unwritten));
        box.forget(what);
        const forgotten = performance.now();
        api.update({ plan: JSON.stringify(run('second')) });
        if (what === 'open') await until(() => String(api.data()['success-count']) === '2');
        else await node.daemon.logged(({ state }) => state === 'disconnected');
        expect(performance.now() - forgotten).toBeLessThan(NOTICED_MS);
      } finally {
        await box.close();
        await api.close();
      }
    },
  );
});
