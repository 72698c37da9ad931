import { parseConfig } from '@wins/config';
import type { DoctorHost } from '../../kernel/doctor-host.js';
import { checkNetwork, type NetworkQuestions } from './check-network.js';
import type { NetworkFacts } from './network-facts.js';

const SECTION = 'hostNetwork: {keep: [gce]}';

async function look(
  facts: Partial<NetworkFacts>,
  text = SECTION,
  links: Readonly<Record<string, boolean>> | null = {},
) {
  const featureFacts = () => Promise.resolve({ on: true, routes: [], ...facts });
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const dialAt = (at: string, port: number) => {
    dialled.push(`${at}:${port}`);
    return Promise.resolve(at === '172.16.0.3' ? 'silent' : 'open');
  };
  const neighbours = () => Promise.resolve(links ? new Map(Object.entries(links)) : undefined);
  const host = { featureFacts, dialAt, neighbours } as unknown as DoctorHost & NetworkQuestions;
  const findings = await checkNetwork.look(host, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

const dialled: string[] = [];
const to = (peer: string, gateway: string): NetworkFacts['routes'][number] => ({
  destination: '10.1.0.0/16',
  kind: 'route',
  state: 'applied',
  detail: '',
  interface: 'e0',
  metric: 256,
  peer,
  gateway,
});

describe('of the other hosts the doctor says', () => {
  it('nothing where none is wanted, or none has a route', async () => {
    expect(await look({ state: 'settled' }, '')).toEqual([]);
    expect(await look({ state: 'settled' }, 'hostNetwork: {}')).toEqual([]);
    expect(await look({ state: 'settled' })).toEqual([]);
  });

  it('counts and dials a host with two subnets once', async () => {
    const routes = [to('old-b', '172.16.0.4'), to('b', '172.16.0.4')];
    const probing = 'hostNetwork: {keep: [gce], probePort: 80}';
    expect(await look({ state: 'settled', routes }, probing, { '172.16.0.4': true })).toEqual([
      'ok: 1 other hosts have a route, 1 are on the link, 1 answered at port 80',
    ]);
    expect(dialled.splice(0)).toEqual(['172.16.0.4:80']);
  });

  it('nothing of the link where the system does not list its neighbours, as on Windows', async () => {
    const routes = [to('b', '172.16.0.4')];
    expect(await look({ state: 'settled', routes }, SECTION, null)).toEqual([
      'ok: 1 other hosts have a route',
    ]);
  });

  it('which other hosts do not answer on the link or at the port of the config, and dials no other', async () => {
    const routes = [to('h-b', '172.16.0.3'), to('h-c', '172.16.0.4')];
    const links = { '172.16.0.3': true, '172.16.0.4': true };
    expect(await look({ state: 'settled', routes }, SECTION, links)).toEqual([
      'ok: 2 other hosts have a route, 2 are on the link',
    ]);
    expect(dialled).toEqual([]);
    const probing = 'hostNetwork: {keep: [gce], probePort: 80}';
    expect(
      await look({ state: 'settled', routes }, probing, { ...links, '172.16.0.4': false }),
    ).toEqual([
      'problem: h-c: 172.16.0.4 does not answer on the link; h-b: 172.16.0.3 port 80: silent',
    ]);
    expect(dialled).toEqual(['172.16.0.3:80', '172.16.0.4:80']);
  });
});
