import { parseAddress, parseNetwork, type StaticRoute } from '@wins/base';
import { WindowsError, type WindowsErrorCode } from '../windows-error.js';
import type { AdapterEntry } from './network-adapters.js';
import type { ForwardRow, RouteTable } from './routes.js';
import { hostRoutesOf } from './windows-host-routes.js';
import { systemContainerCalls } from './windows-network-items.js';

const bytes = (text: string) => parseAddress(text) ?? new Uint8Array();
const network = (text: string) => parseNetwork(text) ?? { bytes: new Uint8Array(), prefix: 0 };
const row = (destination: string, nextHop: string, metric: number, index = 4): ForwardRow => ({
  destination: network(destination),
  nextHop: bytes(nextHop),
  interfaceIndex: index,
  metric,
  protocol: 3,
});
const ETHERNET: AdapterEntry = {
  index: 4,
  guid: '{A}',
  name: 'Ethernet',
  isUp: true,
  metrics: { ipv4: 15, ipv6: 15 },
  addresses: [network('192.0.2.2/24'), network('fe80::2/64')],
};
const ROUTE: StaticRoute = {
  destination: '10.1.0.0/16',
  gateway: '192.0.2.7',
  interface: '{A}',
  metric: 256,
};

/** Windows identifies routes by destination, interface and next hop. */
function tableOf(rows: ForwardRow[]): RouteTable {
  const key = ({ destination, interfaceIndex, nextHop }: ForwardRow): string =>
    JSON.stringify([destination, interfaceIndex, nextHop]);
  const indexOf = (one: ForwardRow): number => rows.findIndex((at) => key(at) === key(one));
  return {
    read: () => [...rows],
    add: (one) => {
      if (indexOf(one) >= 0) return false;
      rows.push(one);
      return true;
    },
    remove: (one) => void rows.splice(indexOf(one), 1),
  };
}
const hostOf = (rows: ForwardRow[], adapters = [ETHERNET], startedAtMs = 0) =>
  hostRoutesOf(
    tableOf(rows),
    { ...systemContainerCalls, adapters: () => adapters },
    () => startedAtMs,
  );

describe('the static routes of Windows', () => {
  it('are listed by the GUID of their interface, without IPv6', async () => {
    const rows = [row('10.1.0.0/16', '192.0.2.7', 256), row('192.0.2.0/24', '0.0.0.0', 0)];
    const other = [row('2001:db8::/32', 'fe80::1', 0), row('10.2.0.0/16', '192.0.2.7', 1, 99)];
    expect(await hostOf([...rows, ...other]).list(false)).toEqual({
      interfaces: [{ id: '{A}', name: 'Ethernet', metric: 15, addresses: ['192.0.2.2/24'] }],
      routes: [
        ROUTE,
        { destination: '192.0.2.0/24', gateway: '', interface: '{A}', metric: 0 },
        { destination: '10.2.0.0/16', gateway: '192.0.2.7', interface: '', metric: 1 },
      ],
    });
  });

  it.each<[string, WindowsErrorCode, object]>([
    ['stay listed when items cannot be', 'accessDenied', { itemsError: { message: 'no answer' } }],
    ['are all there is without HNS', 'unavailable', { itemsError: undefined }],
  ])('%s', async (_name, code, expected) => {
    const networks = () => Promise.reject(new WindowsError(code, 'no answer'));
    const adapters = () => [ETHERNET];
    const host = hostRoutesOf(
      tableOf([row('10.1.0.0/16', '192.0.2.7', 256)]),
      { ...systemContainerCalls, adapters, networks },
      () => 0,
    );
    const { items, itemsError, interfaces, routes } = await host.list(true);
    expect({ itemsError }).toMatchObject(expected);
    expect([items, routes, interfaces.length]).toEqual([undefined, [ROUTE], 1]);
  });

  it('have no interface that is down, or has no address of IPv4', async () => {
    const down = { ...ETHERNET, isUp: false };
    const bare = { ...ETHERNET, addresses: [] };
    expect((await hostOf([], [down, bare]).list(false)).interfaces).toEqual([]);
  });

  it('are added once, and what was there first is told apart', async () => {
    const rows: ForwardRow[] = [];
    const host = hostOf(rows);
    expect(await host.change([{ op: 'add', route: ROUTE }])).toEqual([{ kind: 'done' }]);
    expect(await host.change([{ op: 'add', route: ROUTE }])).toEqual([{ kind: 'exists' }]);
    expect(rows).toEqual([row('10.1.0.0/16', '192.0.2.7', 256)]);
  });

  it('are not removed when their metric is another one', async () => {
    const rows = [row('10.1.0.0/16', '192.0.2.7', 5)];
    await hostOf(rows).change([{ op: 'remove', route: ROUTE }]);
    expect(rows).toHaveLength(1);
    await hostOf(rows).change([{ op: 'remove', route: { ...ROUTE, metric: 5 } }]);
    expect(rows).toEqual([]);
  });

  it('fail one by one', async () => {
    const rows: ForwardRow[] = [];
    const table = tableOf(rows);
    const add = (one: ForwardRow): boolean => {
      if (one.metric === 1) throw new WindowsError('accessDenied', 'no administrator');
      return table.add(one);
    };
    const host = hostRoutesOf(
      { ...table, add },
      { ...systemContainerCalls, adapters: () => [ETHERNET] },
      () => 0,
    );
    const gone = { ...ROUTE, interface: '{B}' };
    const changes = [{ ...ROUTE, metric: 1 }, gone, ROUTE];
    expect(
      await host.change(changes.map((route) => ({ op: 'add' as const, route }))),
    ).toMatchObject([
      { kind: 'failed', isDenied: true, message: 'no administrator' },
      {
        kind: 'failed',
        isDenied: false,
        message: expect.stringMatching(/no longer exists/) as string,
      },
      { kind: 'done' },
    ]);
  });

  it('know the boot by its time, however the clock is corrected', () => {
    const mark = hostOf([], [], Date.parse('2026-01-01T00:00:00Z')).bootMark();
    const corrected = Date.parse('2026-01-01T00:00:05Z');
    expect(hostOf([], [], corrected).isThisBoot(mark)).toBe(true);
    expect(hostOf([], [], corrected + 60_000).isThisBoot(mark)).toBe(false);
    expect(hostOf([], [], corrected).isThisBoot('no time')).toBe(false);
  });
});
