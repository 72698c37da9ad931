import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import {
  chmodSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

describe('a node whose token ends while its watch goes on', () => {
  let api: ApiServer;
  let node: PlanNode;
  let runs: string;

  const plan = (name: string): string =>
    JSON.stringify({ instructions: [{ name, command: node.workspace.path('say'), args: [name] }] });
  const isDone = (count: number): boolean => String(api.data()['success-count']) === String(count);
  const putsOf = (token: string): number =>
    api.requests.filter(
      ({ method, headers }) => method === 'PUT' && headers.authorization === `Bearer ${token}`,
    ).length;

  beforeEach(async () => {
    api = await startApiServer();
    node = new PlanNode();
    runs = node.workspace.path('runs');
    node.workspace.script('say', `echo $1 >>${runs}`);
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
    await api.close();
  });

  describe.each([
    ['with plan-state', { 'plan-state': 'pending' }],
    ['by the rules before plan-state', {}],
  ])('%s', (_title, state) => {
    it('reads the connection info again at the first refusal, and watches with the new token', async () => {
      api.create({ plan: plan('a'), ...state });
      await node.start(node.remoteConfig(api));
      await until(() => isDone(1));
      const { token: old } = api;
      const before = putsOf(old);
      api.rotateToken();
      node.workspace.write('connection_info.json', api.connectionInfo());
      const watched = api.nextRequest(
        ({ query, headers }) =>
          query.get('watch') === 'true' && headers.authorization === `Bearer ${api.token}`,
      );
      api.update({ plan: plan('b'), ...state });
      await until(() => isDone(2));
      await watched;
      expect(putsOf(old) - before).toBe(1);
      api.update({ plan: plan('c'), ...state });
      await until(() => isDone(3));
      expect(readFileSync(runs, 'utf8')).toBe('a\nb\nc\n');
    });

    it('reports the refusal while the connection info is unchanged, and continues once it is changed', async () => {
      api.create({ plan: plan('a'), ...state });
      const config = node.remoteConfig(api);
      const daemon = await node.start(config);
      await until(() => isDone(1));
      api.rotateToken();
      api.update({ plan: plan('b'), ...state });
      const told = await daemon.logged((record) => record['state'] === 'unregistered');
      expect(JSON.stringify(told)).toContain('the API server answered 401');
      const doctor = await node.wins('doctor', '--config', config);
      expect(String(doctor.stdout)).toMatch(
        /^problem +plan +remote: unregistered: .* 401.*wins join --again/m,
      );
      const events = await node.wins('srv', 'events', '-o', 'json');
      expect(String(events.stdout)).toMatch(/"planState".*"state": ?"unregistered"/);
      node.workspace.write('connection_info.json', api.connectionInfo());
      await until(() => isDone(2));
      expect(readFileSync(runs, 'utf8')).toBe('a\nb\n');
    });
  });

  describe('whose connection info is a link to the newest version, in a linked folder', () => {
    const info = (): string => node.workspace.path('linked/connection_info.json');
    const volume = (name: string): string => node.workspace.path(path.join('volume', name));

    /** Replaces the link `..data` by a rename, and removes the earlier version, as the kubelet does. */
    function deliver(version: string): void {
      const earlier = existsSync(volume('..data')) ? realpathSync(volume('..data')) : undefined;
      node.workspace.write(`volume/${version}/connection_info.json`, api.connectionInfo());
      symlinkSync(version, volume('..data_tmp'));
      renameSync(volume('..data_tmp'), volume('..data'));
      if (earlier !== undefined) rmSync(earlier, { recursive: true });
    }

    beforeEach(() => {
      api.create({ plan: plan('a') });
      deliver('..2026_11_28_1');
      symlinkSync('..data/connection_info.json', volume('connection_info.json'));
      symlinkSync('volume', node.workspace.path('linked'));
    });

    it('follows the link to a new token', async () => {
      const config = node.config({ remoteEnabled: true, connectionInfoFile: info() });
      await node.start(config);
      await until(() => isDone(1));
      api.rotateToken();
      deliver('..2026_11_28_2');
      api.update({ plan: plan('b') });
      await until(() => isDone(2));
      expect(readFileSync(runs, 'utf8')).toBe('a\nb\n');
      const doctor = await node.wins('doctor', '--config', config);
      expect(String(doctor.stdout)).toMatch(/^ok +agent +the API server answers/m);
    });

    it('does not follow it where others could replace a link, and says where', async () => {
      chmodSync(volume(''), 0o777);
      const config = node.config({ remoteEnabled: true, connectionInfoFile: info() });
      const daemon = await node.start(config);
      const told = await daemon.logged((record) => record['state'] === 'disconnected');
      expect(JSON.stringify(told)).toMatch(
        /because of \S+\/volume\S+: group or others can write to it \(mode 0777\)/,
      );
      const doctor = await node.wins('doctor', '--config', config);
      expect(String(doctor.stdout)).toMatch(/^problem +agent .*group or others can write to it/m);
      expect(api.requests).toEqual([]);
      chmodSync(volume(''), 0o755);
      await until(() => isDone(1));
    });
  });
});
