import fc from 'fast-check';
import { judgeDestination } from './destination-policy.js';

const PORTS = new Set([9796, 65_535]);

describe('the destination policy', () => {
  it.each(['tcp/localhost:9796', 'tcp/127.0.0.1:9796', 'tcp/[::1]:9796', 'tcp/localhost:65535'])(
    'allows %s',
    (address) => {
      expect(judgeDestination(address, PORTS)).toMatchObject({
        allowed: true,
        rule: 'port-allowed',
      });
    },
  );

  it.each([
    ['udp/localhost:9796', 'protocol-tcp'],
    ['tcp4/localhost:9796', 'protocol-tcp'],
    ['TCP/localhost:9796', 'protocol-tcp'],
    ['localhost:9796', 'protocol-tcp'],
    ['', 'protocol-tcp'],
    ['tcp/localhost', 'protocol-tcp'],
    ['tcp/example.com:9796', 'host-loopback'],
    ['tcp/localhost.:9796', 'host-loopback'],
    ['tcp/LOCALHOST:9796', 'host-loopback'],
    ['tcp/127.0.0.2:9796', 'host-loopback'],
    ['tcp/0.0.0.0:9796', 'host-loopback'],
    ['tcp/::1:9796', 'host-loopback'],
    ['tcp/[::1%lo]:9796', 'host-loopback'],
    ['tcp/[::ffff:127.0.0.1]:9796', 'host-loopback'],
    ['tcp/169.254.169.254:9796', 'host-loopback'],
    ['tcp/localhost@evil:9796', 'host-loopback'],
    ['tcp/ localhost:9796', 'host-loopback'],
    ['tcp/:9796', 'host-loopback'],
    ['tcp/localhost:09796', 'port-number'],
    ['tcp/localhost:+9796', 'port-number'],
    ['tcp/localhost:9796 ', 'port-number'],
    ['tcp/localhost:9796\n', 'port-number'],
    ['tcp/localhost:0x2644', 'port-number'],
    ['tcp/localhost:9796.0', 'port-number'],
    ['tcp/localhost:65536', 'port-number'],
    ['tcp/localhost:75332', 'port-number'],
    ['tcp/localhost:0', 'port-number'],
    ['tcp/localhost:', 'port-number'],
    ['tcp/localhost:80', 'port-not-listed'],
    [`tcp/${'l'.repeat(262)}`, 'protocol-tcp'],
    [`tcp/${'l'.repeat(263)}`, 'address-length'],
  ])('refuses %j by the rule %s', (address, rule) => {
    expect(judgeDestination(address, PORTS)).toMatchObject({ allowed: false, rule });
  });

  it('allows nothing without a list', () => {
    expect(judgeDestination('tcp/localhost:9796', new Set())).toEqual({
      allowed: false,
      port: 9796,
      rule: 'port-not-listed',
    });
  });

  it('allows only texts that it can be given back in full', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat({ max: 70_000 }), (protocol, host, port) => {
        const verdict = judgeDestination(`${protocol}/${host}:${port}`, PORTS);
        if (verdict.allowed)
          expect([
            protocol,
            ['localhost', '127.0.0.1', '[::1]'].includes(host),
            PORTS.has(port),
          ]).toEqual(['tcp', true, true]);
      }),
    );
  });
});
