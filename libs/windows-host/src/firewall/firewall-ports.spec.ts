import type { ExposedPort } from '@wins/base';
import { formatRanges, portSet } from './firewall-rules.js';

const tcp = (...ports: number[]) => ports.map((port) => ({ protocol: 'tcp', port }) as const);

it('sorts ports into ranges by protocol', () => {
  const set = portSet([...tcp(443, 81, 80, 82, 80, 65_535), { protocol: 'udp', port: 1 }]);
  expect(formatRanges(set.tcp)).toBe('80-82,443,65535');
  expect(formatRanges(set.udp)).toBe('1');
});

it.each([
  { protocol: 'tcp', port: 0 },
  { protocol: 'tcp', port: 65_536 },
  { protocol: 'tcp', port: 80.5 },
  { protocol: 'tcp', port: Number.NaN },
  { protocol: 'tcp', port: '80 action=block' },
  { protocol: 'sctp', port: 80 },
  { protocol: 'toString', port: 80 },
])('refuses %j', (port) => {
  const refused = expect.objectContaining({ code: 'invalidArgument' }) as Error;
  expect(() => portSet([port as unknown as ExposedPort])).toThrow(refused);
});

it('refuses more ranges than a rule should have', () => {
  const every = (step: number, count: number) =>
    tcp(...Array.from({ length: count }, (_, index) => 1 + index * step));
  expect(formatRanges(portSet(every(1, 65_535)).tcp)).toBe('1-65535');
  expect(portSet(every(2, 256)).tcp).toHaveLength(256);
  expect(() => portSet(every(2, 257))).toThrow('found 257 ranges of ports; wanted at most 256');
});
