import { parsePublished } from './publish-list.js';

const pairs = (...entries: string[]) =>
  parsePublished(entries).map(({ containerPort, hostPort }) => [containerPort, hostPort]);

describe('the ports to publish', () => {
  it('are single ports and ranges, which lead to the same ports of the host', () => {
    expect(pairs('TCP:443', 'tcp:80-81')).toEqual([
      [443, 443],
      [80, 80],
      [81, 81],
    ]);
  });

  it('may lead to other ports of the host, one by one', () => {
    expect(pairs('TCP:8080:9796', 'TCP:1-2:65534-65535')).toEqual([
      [8080, 9796],
      [1, 65534],
      [2, 65535],
    ]);
  });

  it('count once when they are named twice', () => {
    expect(pairs('TCP:80-81', 'TCP:81', 'TCP:81:81')).toHaveLength(2);
  });

  it('cannot lead to two ports of the host', () => {
    expect(() => parsePublished(['TCP:80:1', 'TCP:80:2'])).toThrow(/"TCP:80:2".*host port 1/);
  });

  it('may be of UDP, beside the same port of TCP that leads elsewhere', () => {
    expect(parsePublished(['udp:53', 'TCP:53:5353'])).toEqual([
      { protocol: 'UDP', containerPort: 53, hostPort: 53 },
      { protocol: 'TCP', containerPort: 53, hostPort: 5353 },
    ]);
  });

  it('are at least one', () => {
    expect(() => parsePublished([])).toThrow('no port');
  });

  it.each([
    'SCTP:80',
    '80',
    'TCP:',
    'TCP:80:',
    'TCP::80',
    'TCP:0',
    'TCP:65536',
    'TCP:80:0',
    'TCP:80-',
    'TCP:81-80',
    'TCP:8x',
    'TCP:1:2:3',
    'TCP:1-2-3',
    'TCP:1-2:1-3',
    'TCP:1-2:7',
    'TCP:-1',
    'TCP: 80',
    'UDP:',
  ])('cannot be %j, and the error names it', (entry) => {
    expect(() => parsePublished([entry])).toThrow(`"${entry}"`);
  });
});
