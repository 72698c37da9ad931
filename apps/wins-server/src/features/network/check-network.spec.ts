import { parseConfig } from '@wins/config';
import {
  HostNetworkSource,
  HostNetworkStatusResponse,
  HostRouteStanding,
} from '@wins/wins-api/contract';
import type { DoctorHost } from '../../doctor/doctor-host.js';
import { checkNetwork } from './check-network.js';

const SECTION = 'hostNetwork: {keep: [gce]}';
const route = (State: string, Detail = '') =>
  HostRouteStanding.fromPartial({ Destination: '10.1.0.0/16', State, Detail });

async function look(
  status: Partial<HostNetworkStatusResponse> | Error,
  text = SECTION,
  links: Readonly<Record<string, boolean>> = {},
) {
  const networkStatus = () =>
    status instanceof Error
      ? Promise.reject(status)
      : Promise.resolve(HostNetworkStatusResponse.fromPartial({ On: true, ...status }));
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const dialAt = (at: string, port: number) => {
    dialled.push(`${at}:${port}`);
    return Promise.resolve(at === '172.16.0.3' ? 'silent' : 'open');
  };
  const neighbours = () => Promise.resolve(new Map(Object.entries(links)));
  const host = { networkStatus, dialAt, neighbours } as unknown as DoctorHost;
  const findings = await checkNetwork.look(host, loaded);
  advices = findings.map(({ advice = '' }) => advice);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

const dialled: string[] = [];
let advices: readonly string[] = [];
const source = (more: Partial<HostNetworkSource>) =>
  HostNetworkSource.fromPartial({ Source: 'metadata', State: 'current', Peers: 2, ...more });
const to = (Peer: string, Gateway: string) =>
  HostRouteStanding.fromPartial({ Destination: '10.1.0.0/16', State: 'applied', Peer, Gateway });

describe('of the network of the host the doctor says', () => {
  it('nothing where none is wanted', async () => {
    expect(await look({ State: 'settled' }, '')).toEqual([]);
    expect(await look({ State: 'settled' }, 'hostNetwork: {}')).toEqual([]);
  });

  it('that routes stand as they are wanted', async () => {
    const Routes = [route('applied'), route('foreign')];
    expect(await look({ State: 'settled', Routes })).toEqual(['ok: 2 routes are in place']);
    const bridge = { ...route('applied'), Kind: 'bridge' };
    expect(await look({ State: 'settled', Routes: [...Routes, bridge] })).toEqual([
      'ok: 2 routes, and the network of containers, are in place',
    ]);
  });

  it('that it is off, was taken down, or cannot be told', async () => {
    expect(await look({ On: false, Reason: 'x' })).toEqual([
      'warning: the daemon does not manage it: x',
    ]);
    expect(await look({ Down: true })).toEqual(['warning: it was torn down by hand']);
    expect(await look({ State: 'starting' })).toEqual(['warning: it is starting']);
    expect(await look(new Error('no daemon'))).toEqual([
      'warning: cannot determine the state of the network: no daemon',
    ]);
  });

  it('which routes failed, are refused, wait or belong to nobody, each first three', async () => {
    const Routes = [
      route('conflict', 'in the way'),
      route('rejected', 'the host itself is in it'),
      route('waiting', 'no default route'),
    ];
    const Problems = ['a', 'b', 'c', 'd', 'e'];
    expect(await look({ State: 'partial', Routes, Problems, Orphans: ['10.9.0.0/16'] })).toEqual([
      'problem: a; b; c; and 2 more',
      'problem: 10.1.0.0/16: in the way; 10.1.0.0/16: the host itself is in it',
      'warning: 10.1.0.0/16: no default route',
      'warning: routes are marked as made by wins, but have no known owner: 10.9.0.0/16',
    ]);
  });

  it('what each source of other hosts does not tell, or tells wrongly', async () => {
    const State = 'settled';
    expect(
      await look({
        State,
        Sources: [
          source({}),
          source({ State: 'degraded', AgeSeconds: 130, Problem: 'refused' }),
          source({ Source: 'nodes', State: 'starting', AgeSeconds: -1 }),
          source({ Doubted: true, Limited: true }),
          source({ SkippedCount: 2, Skipped: [{ Id: 'h-b', Code: 'badSubnet' }] }),
        ],
      }),
    ).toEqual([
      'ok: 0 routes are in place',
      'ok: metadata: 2 other hosts',
      'problem: metadata: 2 other hosts kept, and it last answered 130 s ago: refused',
      'warning: nodes: it has not answered yet',
      'warning: metadata: 2 other hosts kept, although most are missing in its latest snapshot',
      'warning: metadata: it has more other hosts than the daemon accepts',
      'ok: metadata: 2 other hosts',
      'warning: metadata: 2 of its elements are skipped: h-b: badSubnet',
    ]);
  });

  it('which hosts left stale objects, with the command that removes them, or share an address', async () => {
    const duplicate = (Id: string, Of: string, Stale: boolean) => ({ Id, Of, Stale });
    const Duplicates = [
      ...[duplicate('old-a', 'a', true), duplicate('x', 'y', false)],
      ...['b', 'c', 'd'].map((name) => duplicate(`old-${name}`, name, true)),
    ];
    const nodes = source({ Source: 'nodes', Duplicates });
    expect(await look({ State: 'settled', Sources: [nodes] })).toEqual([
      'ok: 0 routes are in place',
      'ok: nodes: 2 other hosts',
      'warning: nodes: stale Node objects, whose hosts joined again: ' +
        'old-a (now a); old-b (now b); old-c (now c); and 1 more',
      'warning: nodes: hosts have the same address: x and y',
    ]);
    expect(advices).toContain('kubectl delete node old-a old-b old-c');
  });

  it('counts and dials a host with two subnets once', async () => {
    const Routes = [to('old-b', '172.16.0.4'), to('b', '172.16.0.4')];
    const probing = 'hostNetwork: {keep: [gce], probePort: 80}';
    expect(await look({ State: 'settled', Routes }, probing, { '172.16.0.4': true })).toEqual([
      'ok: 2 routes are in place',
      'ok: 1 other hosts have a route, 1 are on the link, 1 answered at port 80',
    ]);
    expect(dialled.splice(0)).toEqual(['172.16.0.4:80']);
  });

  it('which other hosts do not answer on the link or at the port of the config, and dials no other', async () => {
    const Routes = [to('h-b', '172.16.0.3'), to('h-c', '172.16.0.4')];
    const links = { '172.16.0.3': true, '172.16.0.4': true };
    expect(await look({ State: 'settled', Routes }, SECTION, links)).toEqual([
      'ok: 2 routes are in place',
      'ok: 2 other hosts have a route, 2 are on the link',
    ]);
    expect(dialled).toEqual([]);
    const probing = 'hostNetwork: {keep: [gce], probePort: 80}';
    expect(
      await look({ State: 'settled', Routes }, probing, { ...links, '172.16.0.4': false }),
    ).toEqual([
      'ok: 2 routes are in place',
      'problem: h-c: 172.16.0.4 does not answer on the link; h-b: 172.16.0.3 port 80: silent',
    ]);
    expect(dialled).toEqual(['172.16.0.3:80', '172.16.0.4:80']);
  });
});
