import { startApiServer } from '@wins/system-agent/testing';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { base64, PlanNode } from '../testing/agent/plan-node.js';
import { processesWith, until } from '../testing/process-table.js';

it('waits for its connection info and ends nothing meanwhile', async () => {
  const api = await startApiServer();
  api.create({ plan: '{}' });
  await using node = new PlanNode();
  const connectionInfoFile = node.workspace.path('later.json');
  const daemon = await node.start(node.config({ remoteEnabled: true, connectionInfoFile }));
  await daemon.logged(({ state }) => state === 'disconnected');
  node.workspace.write('later.json', api.connectionInfo());
  await until(() => api.data()['applied-checksum'] !== undefined);
  await api.close();
});

it('runs an instruction again that a stopped daemon has ended, as the same try, and nothing of the first is written', async () => {
  const api = await startApiServer();
  await using node = new PlanNode();
  const go = node.workspace.path('go');
  const tries = node.workspace.path('tries');
  const endless = node.workspace.script('endless', 'sleep 100000; exit');
  const program = node.workspace.script(
    'wait-for-go',
    [
      `echo try $CATTLE_AGENT_ATTEMPT_NUMBER >> ${tries}`,
      `if [ -e ${go} ]; then echo done; else ${endless} & ${endless}; fi`,
    ].join('\n'),
  );
  const instructions = [{ name: 'wait', command: program, saveOutput: true }];
  api.create({ plan: JSON.stringify({ instructions }), 'max-failures': '1' });
  const config = node.remoteConfig(api);
  const daemon = await node.start(config);
  await until(() => processesWith(endless).length === 2);
  const before = api.read();
  expect((await daemon.stop()).code).toBe(0);
  expect([...processesWith(program), ...processesWith(endless)]).toEqual([]);
  expect(api.read()).toEqual(before);
  node.workspace.write('go', '');
  await node.start(config);
  await until(() => api.data()['applied-checksum'] !== undefined);
  const [first, second, ...others] = readFileSync(tries, 'utf8').trim().split('\n');
  expect([second, others]).toEqual([first, []]);
  const { 'applied-output': output, 'success-count': count, ...data } = api.data();
  expect(JSON.parse(gunzipSync(output ?? '').toString())).toEqual({ wait: base64('done\n') });
  expect(String(count)).toBe('1');
  expect(data['failed-checksum']?.toString() ?? '').toBe('');
  await api.close();
});
