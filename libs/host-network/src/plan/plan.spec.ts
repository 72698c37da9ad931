import type { ListedRoute, RouteInterface, RoutingState } from '@wins/base';
import { plan as planFor, type OwnedRoute, type PlanOptions, type RoutePlan } from './plan.js';
import { connectedRoutes } from '../testing/model-host.js';
import { cloudRoutes, type DesiredRoute } from './desired-route.js';

const plan = (
  routes: readonly DesiredRoute[],
  actual: RoutingState,
  record: readonly OwnedRoute[],
  options?: PlanOptions,
) => planFor({ routes }, actual, record, options);

const eth0: RouteInterface = {
  id: 'e0',
  name: 'eth0',
  metric: 0,
  addresses: ['192.0.2.2/24'],
};
const eth1: RouteInterface = {
  id: 'e1',
  name: 'eth1',
  metric: 0,
  addresses: ['172.16.0.2/24'],
};
const byDefault: ListedRoute = {
  destination: '0.0.0.0/0',
  gateway: '192.0.2.1',
  interface: 'e0',
  metric: 0,
};
const via = (destination: string, gateway = '172.16.0.3'): DesiredRoute => ({
  destination,
  gateway,
  metric: 256,
});
const route = (destination: string, gateway = '172.16.0.3', metric = 256): ListedRoute => ({
  destination,
  gateway,
  interface: gateway.startsWith('172') ? 'e1' : 'e0',
  metric,
});
const owned = (destination: string, gateway?: string): OwnedRoute => ({
  route: route(destination, gateway),
  state: 'applied',
});
const state = (...routes: readonly ListedRoute[]): RoutingState => ({
  interfaces: [eth0, eth1],
  routes: [byDefault, ...connectedRoutes([eth0, eth1]), ...routes],
});
const steps = ({ steps: planned }: RoutePlan) =>
  planned.map((step) =>
    'route' in step
      ? `${step.op} ${step.route.destination} ${step.route.gateway}`
      : `${step.op} ${step.item.kind} ${step.item.key}`,
  );
const states = ({ standings }: RoutePlan) => standings.map((standing) => standing.state);

const PEER = '10.42.1.0/24';

describe('a plan', () => {
  it('adds what is wanted and lacking, and records it before as pending', () => {
    const planned = plan([via(PEER)], state(), []);
    expect(steps(planned)).toEqual([`add ${PEER} 172.16.0.3`]);
    expect(planned.record).toEqual([{ route: route(PEER), state: 'pending' }]);
  });

  it('takes a pending route that is there for ours, and forgets one that is not', () => {
    const pending: OwnedRoute = { route: route(PEER), state: 'pending' };
    expect(plan([], state(), [pending]).record).toEqual([]);
    const found = plan([via(PEER)], state(route(PEER)), [pending]);
    expect([steps(found), found.record]).toEqual([[], [owned(PEER)]]);
  });

  it('has no steps when everything is there', () => {
    const planned = plan([via(PEER)], state(route(PEER)), [owned(PEER)]);
    expect([steps(planned), states(planned)]).toEqual([[], ['applied']]);
  });

  it('removes what is recorded and wanted no more, and nothing else', () => {
    const planned = plan([], state(route(PEER), route('10.43.0.0/16')), [owned(PEER)]);
    expect(steps(planned)).toEqual([`remove ${PEER} 172.16.0.3`]);
    // The route stays in the record until the host no longer has it.
    expect(planned.record).toEqual([owned(PEER)]);
  });

  it('moves a route to another gateway: the old one goes first, once', () => {
    const planned = plan([via(PEER, '172.16.0.4')], state(route(PEER)), [owned(PEER)]);
    expect(steps(planned)).toEqual([`remove ${PEER} 172.16.0.3`, `add ${PEER} 172.16.0.4`]);
  });

  it('is satisfied with a route of somebody else, and never makes it ours', () => {
    const planned = plan([via(PEER)], state(route(PEER, undefined, 5)), []);
    expect([steps(planned), states(planned), planned.record]).toEqual([[], ['foreign'], []]);
  });

  it('yields to a route of another program that leads elsewhere, and reports it', () => {
    const planned = plan([via(PEER)], state(route(PEER, '192.0.2.9')), []);
    expect([steps(planned), states(planned)]).toEqual([[], ['conflict']]);
    expect(planned.standings[0]?.detail).toContain('192.0.2.9');
  });

  it('restores what was taken away, and says so', () => {
    const planned = plan([via(PEER)], state(), [owned(PEER)]);
    expect(planned.steps).toMatchObject([{ op: 'add', reason: 'it was removed' }]);
  });

  it('lets go of a route that somebody changed', () => {
    const changed = state(route(PEER, undefined, 7));
    expect(plan([via(PEER)], changed, [owned(PEER)])).toMatchObject({ steps: [], record: [] });
    expect(plan([], changed, [owned(PEER)])).toMatchObject({ steps: [], record: [] });
  });

  it('never takes an unmarked route for a recorded one of the same words', () => {
    const unmarked = { ...route(PEER), isMarked: false };
    expect(plan([], state(unmarked), [owned(PEER)])).toMatchObject({ steps: [], record: [] });
  });

  it('lists marked routes that no record accounts for, and leaves them alone', () => {
    const { steps: planned, orphans } = plan([], state({ ...route(PEER), isMarked: true }), []);
    expect([planned, orphans]).toEqual([[], [PEER]]);
  });

  it('keeps the metadata of each cloud, each address once, where the default route leads', () => {
    const planned = plan(cloudRoutes(['aws', 'azure', 'gce']), state(), []);
    expect(steps(planned)).toContain('add 169.254.169.254/32 192.0.2.1');
    expect(steps(planned)).toContain('add 168.63.129.16/32 192.0.2.1');
    expect(planned.steps).toHaveLength(7);
  });

  it('keeps routes to the metadata and DNS of Rancher on the container network, beside those of a cloud', () => {
    const bridge = {
      id: 'wins-subnet',
      name: 'wins-subnet',
      metric: 0,
      addresses: ['10.42.1.1/24'],
    };
    const cloud = route('169.254.169.250/32', '192.0.2.1');
    const { interfaces, routes } = state(cloud);
    const wanted = cloudRoutes(['rancher', 'aws']);
    const planned = plan(wanted, { interfaces: [...interfaces, bridge], routes }, []);
    const onLink = planned.steps.flatMap((step) => ('route' in step ? [step.route] : []));
    for (const address of ['169.254.169.250/32', '169.254.169.251/32'])
      expect(onLink).toContainEqual({
        destination: address,
        gateway: '',
        interface: 'wins-subnet',
        metric: 1,
      });
    expect(planned.steps.every(({ op }) => op === 'add')).toBe(true);
    const waits = plan(cloudRoutes(['rancher']), state(cloud), []);
    expect([waits.steps, states(waits)]).toEqual([[], ['waiting', 'waiting']]);
  });

  it('keeps what is there while the default route or the interface is away', () => {
    const metadata = cloudRoutes(['gce']);
    const recorded: OwnedRoute[] = [
      { route: route('169.254.169.254/32', '192.0.2.1'), state: 'applied' },
    ];
    const away: RoutingState = {
      interfaces: [eth0],
      routes: [route('169.254.169.254/32', '192.0.2.1')],
    };
    const planned = plan(metadata, away, recorded);
    expect([steps(planned), states(planned), planned.record]).toEqual([[], ['applied'], recorded]);
    expect(states(plan(metadata, { interfaces: [], routes: [] }, []))).toEqual(['waiting']);
  });

  it.each<[string, DesiredRoute, RegExp]>([
    ['the default route', via('0.0.0.0/0'), /default route/],
    ['loopback', via('127.0.0.0/8'), /loopback/],
    ['multicast', via('224.0.0.0/4'), /multicast/],
    ['a network of link-local addresses', via('169.254.0.0/16'), /link-local/],
    ['the network of the host', via('192.0.2.0/24'), /the host itself is in 192\.0\.2\.0\/24/],
    ['half of it', via('192.0.2.128/25'), /the host itself is in/],
    ['half of all addresses', via('128.0.0.0/1'), /link-local/],
    ['what has its gateway in it', via('172.0.0.0/8', '192.0.2.9'), /the host itself is in/],
    ['IPv6', via('2001:db8::/32'), /not an IPv4 network/],
    ['a name', via('metadata.internal'), /not an IPv4 network/],
    ['shell text as gateway', via(PEER, '172.16.0.3; reboot'), /not an IPv4 address/],
    ['this host as gateway', via(PEER, '172.16.0.2'), /an address of this host/],
    ['the address of a network as gateway', via(PEER, '172.16.0.0'), /the address of a network/],
    ['a broadcast address as gateway', via(PEER, '172.16.0.255'), /broadcast/],
  ])('rejects %s', (_what, desired, reason) => {
    const planned = plan([desired], state(), []);
    expect([steps(planned), states(planned)]).toEqual([[], ['rejected']]);
    expect(planned.standings[0]?.detail).toMatch(reason);
  });

  it('rejects a route that contains the next hop of another one', () => {
    const far = { ...route('10.99.0.0/16', '10.1.0.1'), interface: 'e1' };
    const planned = plan([via('10.1.0.0/16')], state(far), []);
    expect(planned.standings[0]?.detail).toBe('the gateway 10.1.0.1 is in it');
  });

  it('leads to peers that are accepted, and says of the others why not', () => {
    const peer = (id: string, subnet: string) => ({ id, subnet, nextHop: `172.16.0.${id}` });
    const peers = [peer('3', PEER), peer('4', '10.42.2.0/24'), peer('5', '10.42.2.0/25')];
    const desired = { routes: [], peers };
    const { steps: toDo, standings } = planFor(desired, state(), []);
    expect(toDo).toMatchObject([{ op: 'add', route: route(PEER) }]);
    expect(standings).toMatchObject([
      { destination: PEER, state: 'planned', peer: '3' },
      { state: 'rejected', code: 'disputed', peer: '4' },
      { state: 'rejected', code: 'disputed', peer: '5' },
    ]);
    const recorded = [owned('10.42.2.0/24', '172.16.0.4')];
    const there = planFor(desired, state(route('10.42.2.0/24', '172.16.0.4')), recorded);
    expect(there.standings).toMatchObject([{}, { state: 'applied', peer: '4' }, { peer: '5' }]);
  });

  it('removes and moves no route of a source that has not answered yet', () => {
    const peer = { id: 'b', subnet: PEER, nextHop: '172.16.0.9' };
    const record = [owned(PEER, '172.16.0.3'), owned('10.9.0.0/16'), owned('10.8.0.0/16')];
    const there = state(...record.map((one) => one.route));
    const desired = { routes: [via('10.8.0.0/16', '172.16.0.4')], peers: [peer] };
    const held = planFor({ ...desired, holds: true }, there, record);
    expect(steps(held)).toEqual(['remove 10.8.0.0/16 172.16.0.3', 'add 10.8.0.0/16 172.16.0.4']);
    expect(held.record).toEqual(expect.arrayContaining(record));
    expect(held.standings.find(({ destination }) => destination === PEER)).toMatchObject({
      state: 'applied',
      gateway: '172.16.0.3',
    });
    const freed = steps(planFor(desired, there, record));
    expect(freed).toContain('remove 10.9.0.0/16 172.16.0.3');
    expect(freed).toContain(`add ${PEER} 172.16.0.9`);
  });

  it('leaves steps beyond their limit to the next plan, and rejects routes beyond theirs', () => {
    const many = Array.from({ length: 5 }, (_, index) => via(`10.${index}.0.0/16`));
    const planned = plan(many, state(), [], { limits: { routes: 4, steps: 3 } });
    expect(steps(planned)).toHaveLength(3);
    expect(planned.record).toHaveLength(3);
    expect(planned.isLimited).toBe(true);
    expect(states(planned).at(-1)).toBe('rejected');
  });

  it('is the same whatever the order of what it is given', () => {
    const peers = [via('10.1.0.0/16'), via('10.2.0.0/16'), via('10.3.0.0/16')];
    const rows = [route('10.1.0.0/16'), route('10.9.0.0/16')];
    const record = [owned('10.1.0.0/16'), owned('10.9.0.0/16')];
    const turned = plan(peers.toReversed(), state(...rows.toReversed()), record.toReversed());
    expect(turned).toEqual(plan(peers, state(...rows), record));
  });
});
