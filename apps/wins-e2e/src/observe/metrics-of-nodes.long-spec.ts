import { silent } from '@wins/rancher-client/testing';
import { startApiServer } from '@wins/system-agent/testing';
import { CsiNode } from '../testing/csi-proxy/csi-node.js';
import { PlanNode } from '../testing/agent/plan-node.js';
import { freeMetrics, scrape, scrapeUntil, type Scrape } from '../testing/scrape.js';
import { countedUpgrades } from '../testing/upgrade/counted-upgrades.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';

const GRACE_MS = 30_000;

describe('the metric wins_upgrades_total', () => {
  it('counts the outcome of upgrades that ended while no daemon served, and none before the last start', async () => {
    const { address, keys } = await freeMetrics();
    await using world = await nodeWithDaemon({}, () => keys);
    expect(await countedUpgrades(address, 0)).toEqual({ upgraded: 0, rolledBack: 0, failed: 0 });
    for (const outcomes of [['upgraded', 'rolledBack', 'failed', 'failed'], ['rolledBack']]) {
      await world.supervisor.stop(GRACE_MS);
      for (const outcome of outcomes) world.leaveRecord({ outcome, reason: 'made up' });
      world.supervisor.start();
      const count = (wanted: string) => outcomes.filter((each) => each === wanted).length;
      expect(await countedUpgrades(address, outcomes.length)).toEqual({
        upgraded: count('upgraded'),
        rolledBack: count('rolledBack'),
        failed: count('failed'),
      });
    }
  });
});

describe('the metric wins_csi_proxy_state', () => {
  it('is 1 for the state that csi-proxy is in, and for no other', async () => {
    const { address, keys } = await freeMetrics();
    await using node = await CsiNode.start({ 'v1.1.3': 'three', 'v1.2.0': 'two' }, keys);
    node.server.script('/assets/csi-proxy-v1.2.0.tar.gz', [silent]);
    await node.run(node.config(undefined));
    await node.daemon.logged(({ msg }) => msg === 'metrics are served');
    const states = (now: Scrape): string[] =>
      [...now]
        .filter(([series, value]) => series.startsWith('wins_csi_proxy_state{') && value !== 0)
        .map(([series, value]) => `${/state="(\w+)"/.exec(series)?.[1]} ${value}`);
    expect(states(await scrape(address))).toEqual([]);
    for (const [version, state] of [
      ['v1.2.0', 'fetching'],
      ['v1.3.0', 'failed'],
      ['v1.1.3', 'serving'],
      [undefined, undefined],
    ] as const) {
      node.config(version && { version });
      const allowed = version === undefined ? ['--allow-drop', 'csi-proxy'] : [];
      await node.wins('srv', 'config', 'reload', ...allowed);
      const wanted = state === undefined ? [] : [`${state} 1`];
      await scrapeUntil(address, (now) => {
        expect(states(now).length).toBeLessThanOrEqual(1);
        return states(now).join() === wanted.join();
      });
    }
  });
});

describe('the metric wins_plan_last_contact_seconds', () => {
  it('grows from the start of the agent on while the API server is away, and begins anew when it is back', async () => {
    const { address, keys } = await freeMetrics();
    await using node = new PlanNode();
    const api = await startApiServer();
    api.create({ plan: '{}' });
    const connectionInfoFile = node.workspace.write('connection_info.json', api.connectionInfo());
    await api.down();
    const agent = { remoteEnabled: true, connectionInfoFile };
    const daemon = await node.start(node.config(agent, [], keys));
    await daemon.logged(({ state }) => state === 'disconnected');
    const contact = (now: Scrape) => now.get('wins_plan_last_contact_seconds');
    const away = await scrapeUntil(address, (now) => (contact(now) ?? 0) > 1);
    const later = await scrape(address);
    expect(contact(later)).toBeGreaterThan(contact(away) ?? NaN);
    const upAtMs = Date.now();
    await api.up();
    for (let contactAtMs = 0; contactAtMs < upAtMs;) {
      const askedAtMs = Date.now();
      contactAtMs = askedAtMs - (contact(await scrape(address)) ?? NaN) * 1000;
    }
    await api.close();
  });
});
