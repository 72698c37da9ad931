import { renameSync } from 'node:fs';
import { hostname } from 'node:os';
import type { LogRecord } from '../testing/daemon.js';
import { mayMakeNetwork } from '../testing/network-namespace.js';
import { wherePossible } from '../testing/where-possible.js';
import { HostInNetwork, type NetworkStatus } from './host-in-network.js';
import { node, NodeApi } from './node-api.js';

const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'routes to the nodes of a cluster, since only root may make a network for them',
);

interface StatusWithSources extends NetworkStatus {
  readonly sources: readonly {
    readonly problem: string;
    readonly duplicates?: readonly object[];
  }[];
}

const OWN = node(hostname().toUpperCase(), '10.42.1.0/24', '192.0.2.2', { day: 5 });
const isChange = ({ msg }: LogRecord): boolean => msg === 'routes of the host are changed';
const isSource =
  (state: string) =>
  (record: LogRecord): boolean =>
    record.msg === 'a source of other hosts' && record['state'] === state;
const line = (subnet: string, address: string): string =>
  `${subnet} via ${address} dev wins0 proto 199 metric 256`;

/** Starts a host whose agent is connected to the API server. */
function start(api: NodeApi): Promise<HostInNetwork> {
  return HostInNetwork.start({ nodes: true }, api.command, (workspace) => {
    const info = { kubeConfig: api.kubeconfig(), namespace: 'n', secretName: 's' };
    const connectionInfoFile = workspace.write('connection.json', JSON.stringify(info));
    const workDirectory = workspace.path('work');
    const appliedPlanDirectory = workspace.path('applied');
    const agent = { remoteEnabled: true, connectionInfoFile, workDirectory, appliedPlanDirectory };
    return { systemagent: agent };
  });
}

async function shown(host: HostInNetwork, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await host.wins(...words, '--config', host.workspace.path('config'));
  return `${stdout.toString()}${stderr}`;
}

inOwnNetwork('the nodes of a cluster', () => {
  it('have routes although stale Node objects have their addresses, and status and doctor name these', async () => {
    using api = new NodeApi();
    const stale = { ready: 'Unknown', day: 1 };
    const objects = [
      OWN,
      node('old-a', '10.42.9.0/24', '192.0.2.2', stale),
      node('old-b', '10.42.2.0/24', '192.0.2.7', { ...stale, ready: 'False' }),
      node('new-b', '10.42.3.0/24', '192.0.2.7', { day: 5 }),
    ];
    api.know(...objects);
    await using host = await start(api);
    await host.daemon.logged(isChange);
    const status = await host.network<StatusWithSources>('apply');
    expect(status).toMatchObject({
      state: 'settled',
      problems: [],
      routes: [
        { destination: '10.42.2.0/24', state: 'applied', peer: 'old-b' },
        { destination: '10.42.3.0/24', state: 'applied', peer: 'new-b' },
      ],
      sources: [
        {
          source: 'nodes',
          state: 'current',
          problem: '',
          count: 2,
          duplicates: [
            { id: 'old-a', of: hostname().toUpperCase(), isStale: true },
            { id: 'old-b', of: 'new-b', isStale: true },
          ],
        },
      ],
    });
    const routes = [line('10.42.2.0/24', '192.0.2.7'), line('10.42.3.0/24', '192.0.2.7')];
    expect(host.routes()).toEqual(expect.arrayContaining(routes));
    const advice = /old-b.*new-b[^]*kubectl delete node old-a old-b/;
    expect(await shown(host, 'srv', 'network', 'status')).toMatch(advice);
    expect(await shown(host, 'doctor')).toMatch(advice);
    expect(await shown(host, 'status')).toMatch(advice);

    // A change of another node is followed.
    const third = node('c', '10.42.4.0/24', '192.0.2.8');
    await host.logs(isChange, () => api.know(...objects, third));
    await host.network('apply');
    expect(host.routes()).toContain(line('10.42.4.0/24', '192.0.2.8'));

    await host.killAndStartAgain();
    await host.network('apply');
    expect(host.routes()).toEqual(expect.arrayContaining(routes));

    const left = [OWN, node('new-b', '10.42.3.0/24', '192.0.2.7', { day: 5 }), third];
    await host.logs(isChange, () => api.know(...left));
    const after = await host.network<StatusWithSources>('apply');
    expect(after).toMatchObject({ state: 'settled', sources: [{ count: 2 }] });
    expect(after.sources[0]?.duplicates ?? []).toEqual([]);
    expect(host.routes()).not.toContain(routes[0]);
    expect(host.routes()).toContain(routes[1]);
  });

  it('get the route of an object with their subnet and another address once that object is stale', async () => {
    using api = new NodeApi();
    const before = node('old-b', '10.42.2.0/24', '192.0.2.7');
    api.know(OWN, before);
    await using host = await start(api);
    await host.daemon.logged(isChange);
    await host.network('apply');
    expect(host.routes()).toContain(line('10.42.2.0/24', '192.0.2.7'));

    // Both are Ready, so the object with the route keeps it.
    const after = node('new-b', '10.42.2.0/24', '192.0.2.8', { day: 5 });
    api.know(OWN, before, after);
    const disputed = async () =>
      (await host.network<StatusWithSources>('status')).routes.map(({ code }) => code);
    while (!(await disputed()).includes('disputed'));
    expect(host.routes()).toContain(line('10.42.2.0/24', '192.0.2.7'));

    const silent = node('old-b', '10.42.2.0/24', '192.0.2.7', { ready: 'Unknown' });
    await host.logs(isChange, () => api.know(OWN, silent, after));
    expect(await host.network<StatusWithSources>('apply')).toMatchObject({
      state: 'settled',
      problems: [],
      sources: [{ count: 1, duplicates: [{ id: 'old-b', of: 'new-b', isStale: true }] }],
    });
    expect(host.routes()).toContain(line('10.42.2.0/24', '192.0.2.8'));
    expect(host.routes()).not.toContain(line('10.42.2.0/24', '192.0.2.7'));
  });

  it('are read by a kubeconfig of its own once it can be used, and by its new token', async () => {
    using api = new NodeApi();
    const nodes = [OWN, node('b', '10.42.2.0/24', '192.0.2.7')];
    api.know(...nodes);
    let kubeconfig = '';
    await using host = await HostInNetwork.start(undefined, api.command, (workspace) => {
      kubeconfig = workspace.write('nodes.yaml', api.kubeconfig('exec: { command: /bin/sh }'));
      return { hostNetwork: { nodes: { kubeconfig } } };
    });
    await host.daemon.logged(isSource('stale'));
    const refused = /cannot use the kubeconfig ".*nodes\.yaml": found the unsupported key "exec"/;
    const { sources } = await host.network<StatusWithSources>('status');
    expect(sources).toMatchObject([
      { source: 'nodes', problem: expect.stringMatching(refused) as string },
    ]);
    expect(await shown(host, 'doctor')).toMatch(refused);
    expect(await shown(host, 'srv', 'config', 'check')).toMatch(
      /hostNetwork\.nodes\.kubeconfig.*"exec".*no node is read until then/,
    );

    const write = () => {
      host.workspace.write('nodes.yaml.new', api.kubeconfig());
      renameSync(`${kubeconfig}.new`, kubeconfig);
    };
    await host.logs(isSource('current'), write);
    await host.network('apply');
    expect(host.routes()).toContain(line('10.42.2.0/24', '192.0.2.7'));
    expect(await shown(host, 'srv', 'config', 'check')).not.toMatch(/no node is read/);

    // The open watch continues with the old token, as on a real server, and ends because the file is new.
    api.rotate('token-2');
    expect(api.listedWith.at(-1)).toBe('token-1');
    write();
    while (api.listedWith.at(-1) !== 'token-2') await new Promise(setImmediate);
    await host.logs(isChange, () => api.know(...nodes, node('c', '10.42.3.0/24', '192.0.2.8')));
    await host.network('apply');
    expect(host.routes()).toContain(line('10.42.3.0/24', '192.0.2.8'));

    // A file that is being written changes nothing.
    host.workspace.write('nodes.yaml', 'current-context: [');
    await host.logs(isChange, () => api.know(...nodes));
    expect(api.listedWith.at(-1)).toBe('token-2');
    expect(await host.network<StatusWithSources>('status')).toMatchObject({
      sources: [{ state: 'current', problem: '' }],
    });
  });

  it.each(['refused', 'ended'] as const)(
    'are listed seldom where the token may not watch them, and their changes are noticed: watches are %s',
    async (watches) => {
      using api = new NodeApi();
      const b = node('b', '10.42.2.0/24', '192.0.2.7');
      api.know(OWN, b);
      api.treatWatches(watches);
      await using host = await start(api);
      await host.daemon.logged(isChange);
      const startedMs = performance.now();
      await host.logs(isChange, () => api.know(OWN, b, node('c', '10.42.3.0/24', '192.0.2.8')));
      expect(performance.now() - startedMs).toBeLessThan(45_000);
      await host.logs(isChange, () => api.know(OWN, b));
      // Both changes took less than 90 s: four lists in the first minute, and one more.
      expect(api.listedWith.length).toBeLessThanOrEqual(5);
      const watching = expect.stringMatching(/watch the nodes/) as string;
      expect(await host.network<StatusWithSources>('status')).toMatchObject({
        sources: [{ source: 'nodes', state: 'stale', problem: watching }],
      });
    },
  );
});
