import { assertNoLoop } from './assert-no-loop.js';

const port = (
  containerPort: number,
  hostPort = containerPort,
  protocol: 'TCP' | 'UDP' = 'TCP',
) => ({ protocol, containerPort, hostPort });

describe('ports that are published on the host of the daemon', () => {
  it.each([undefined, '::', '0.0.0.0', '127.0.0.1', '::1'])(
    'may not lead to themselves when they are published at %s',
    (address) => {
      expect(() => assertNoLoop([port(1, 2), port(80)], address)).toThrow(
        /cannot publish port 80: .*TCP:OTHER:80$/,
      );
    },
  );

  it('may not either when they are of UDP', () => {
    const udp = [port(53, 53, 'UDP')];
    expect(() => assertNoLoop(udp, undefined)).toThrow(/port 53: .*UDP:OTHER:53$/);
  });

  it('may not lead to each other', () => {
    expect(() => assertNoLoop([port(80, 81), port(81, 80)], undefined)).toThrow('port 80');
  });

  it.each<[string, ReturnType<typeof port>[], string | undefined]>([
    ['to other ports of the host', [port(8080, 80), port(8081, 81)], undefined],
    ['to the same port of another protocol', [port(80, 81), port(81, 82, 'UDP')], undefined],
    ['from an address that is not the loopback', [port(80)], '10.0.0.1'],
  ])('may lead %s', (_where, ports, address) => {
    expect(() => assertNoLoop(ports, address)).not.toThrow();
  });
});
