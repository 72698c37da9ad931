import { publishedPorts, type PortFacts, type WantedPort } from '../index.js';
import { judgePorts } from './judge-ports.js';

const FACTS: PortFacts = { ownAddresses: ['127.0.0.1', '192.0.2.2'], ownPorts: [9797] };
const SUBNET: PortFacts = { ...FACTS, subnet: '192.168.100.0/24' };

const port = (listen: string, to: string, more: Partial<WantedPort> = {}) =>
  ({ proto: 'tcp', listen, to, allowReserved: false, allowHost: false, ...more }) as const;
const published = (id: string, listen: string, to: string) =>
  ({ id, proto: 'tcp', listen, to }) as const;
const refusalsOf = (ports: readonly WantedPort[], facts = SUBNET) =>
  judgePorts(ports, facts).map(({ refusal }) => refusal);

describe('a port of the host', () => {
  it('may lead to a container', () => {
    const [judged] = judgePorts([port('0.0.0.0:8080', '192.168.100.10:80')], SUBNET);
    expect(judged?.refusal).toBeUndefined();
    expect(judged?.listen).toEqual({ host: '0.0.0.0', port: 8080 });
    expect(judged?.to).toEqual({ host: '192.168.100.10', port: 80 });
  });

  it.each([
    22, 53, 135, 139, 445, 2375, 2376, 2377, 2379, 2380, 3389, 5985, 5986, 6443, 9345, 9796, 10250,
    10256,
  ])('is not %d, unless the config says so (A150)', (reserved) => {
    for (const proto of ['tcp', 'udp'] as const) {
      const wanted = port(`0.0.0.0:${reserved}`, '192.168.100.10:80', { proto });
      expect(refusalsOf([wanted])).toEqual([
        `port ${reserved} is reserved for services of the host`,
      ]);
      expect(refusalsOf([{ ...wanted, allowReserved: true }])).toEqual([undefined]);
    }
  });

  it('is not the one of the metadata service, nor one of the daemon itself, whatever the config says', () => {
    const to = '192.168.100.10:80';
    expect(refusalsOf([port('169.254.169.250:80', to)])).toEqual([
      expect.stringMatching(/reserved/),
    ]);
    const own = port('0.0.0.0:9797', to, { allowReserved: true });
    expect(refusalsOf([own])).toEqual(['the daemon itself listens on this port']);
    expect(refusalsOf([{ ...own, proto: 'udp' }])).toEqual([undefined]);
  });

  it.each([
    '127.0.0.1',
    '127.1.2.3',
    '192.0.2.2',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '169.254.169.254',
    '169.254.169.250',
  ])('never leads to %s, with a subnet and without (A150)', (host) => {
    for (const facts of [FACTS, SUBNET])
      expect(refusalsOf([port('0.0.0.0:8080', `${host}:80`)], facts)).toEqual([expect.any(String)]);
  });

  it('leads to the host itself only if the config says so, and then to nothing else that is refused', () => {
    const more = { allowHost: true };
    const hosts = ['127.0.0.1', '192.0.2.2', '169.254.169.254', '10.0.0.1'];
    const ports = hosts.map((host, at) => port(`0.0.0.0:${8080 + at}`, `${host}:80`, more));
    expect(refusalsOf(ports)).toEqual([
      undefined,
      undefined,
      '169.254.169.254 is not an address of a container',
      '10.0.0.1 is outside of the subnet 192.168.100.0/24',
    ]);
  });

  it.each(['10.0.0.1', '192.168.101.10', '192.168.99.255', '192.168.100.0', '192.168.100.255'])(
    'never leads out of the subnet, nor to its ends: %s (A150)',
    (host) => {
      expect(refusalsOf([port('0.0.0.0:8080', `${host}:80`)])).toEqual([expect.any(String)]);
    },
  );

  it('has one owner, the first: also where one listens on all addresses', () => {
    const to = '192.168.100.10:80';
    const ports = [
      port('0.0.0.0:8080', to),
      port('192.0.2.2:8080', '192.168.100.11:80'),
      port('0.0.0.0:8080', to, { proto: 'udp' }),
      port('192.0.2.2:8081', to),
      port('0.0.0.0:8081', to),
      port('127.0.0.1:8081', to),
    ];
    expect(refusalsOf(ports)).toEqual([
      undefined,
      '0.0.0.0:8080 to 192.168.100.10:80 already uses this port',
      undefined,
      undefined,
      '192.0.2.2:8081 to 192.168.100.10:80 already uses this port',
      undefined,
    ]);
  });

  it('that is refused has no port: the next one may have it', () => {
    const ports = [port('0.0.0.0:8080', '127.0.0.1:80'), port('0.0.0.0:8080', '192.168.100.10:80')];
    expect(refusalsOf(ports)).toEqual(['127.0.0.1 is this host itself', undefined]);
  });

  it.each([
    ['this host', '127.0.0.1'],
    ['its gateway', '192.168.100.1'],
    ['a host of its networks', '192.0.2.9'],
    ['a container of another host', '192.168.101.10'],
    ['the metadata of a cloud', '169.254.169.254'],
  ])('that a container publishes never leads to %s (A154)', (_what, host) => {
    const facts = { ...SUBNET, ownAddresses: ['127.0.0.1', '192.168.100.1'] };
    const ports = publishedPorts([published('c-1', '0.0.0.0:8080', `${host}:80`)], []);
    expect(refusalsOf(ports, facts)).toEqual([expect.any(String)]);
  });

  it('that containers publish stays with its owner, or else goes to the lowest uuid (A154)', () => {
    const all = ['c-1', 'c-2', 'c-3'].map((id, at) =>
      published(id, '0.0.0.0:8080', `192.168.100.1${at}:80`),
    );
    const ownerOf = (before: Parameters<typeof publishedPorts>[1], given = all) =>
      judgePorts(publishedPorts(given, before), SUBNET).flatMap(({ wanted, refusal }) =>
        refusal === undefined ? wanted.to : [],
      );
    expect(ownerOf([])).toEqual(['192.168.100.10:80']);
    const has = (to: string) => ({ proto: 'tcp', listen: '0.0.0.0:8080', to }) as const;
    const before = [
      { ...has('192.168.100.12:80'), state: 'busy' },
      { ...has('192.168.100.10:80'), state: 'rejected' },
    ];
    expect(ownerOf(before)).toEqual(['192.168.100.12:80']);
    expect(ownerOf(before, all.slice(0, 2))).toEqual(['192.168.100.10:80']);
    // Ports of the config take precedence over published ones.
    const own = port('0.0.0.0:8080', '192.168.100.9:80');
    expect(refusalsOf([own, ...publishedPorts(all, before)])).toEqual([
      undefined,
      ...all.map(() => '0.0.0.0:8080 to 192.168.100.9:80 already uses this port'),
    ]);
  });

  it('that a container publishes is never one of a service of the host (A154)', () => {
    const ports = publishedPorts(
      [22, 445, 2379, 2380, 3389, 5985, 6443, 9345, 9796, 10250, 10256].map((one) =>
        published('c-1', `0.0.0.0:${one}`, '192.168.100.10:80'),
      ),
      [],
    );
    expect(refusalsOf(ports)).toEqual(
      ports.map(() => expect.stringMatching(/reserved/) as unknown),
    );
  });
});
