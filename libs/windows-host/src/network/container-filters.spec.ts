import { addressRange, type NetworkItem } from '@wins/base';
import {
  filtersOf,
  itemsOfFilters,
  type FilterField,
  type FilterLayer,
  type LabelledFilter,
} from './container-filters.js';

const [OWN, UPLINK, OTHER] = [12, 4, 5];
const NETWORKS = '10.42.1.0/24 10.42.0.0/16';
const INGRESS: NetworkItem = { kind: 'filter', key: 'wins-subnet ingress', value: NETWORKS };
const EGRESS: NetworkItem = { kind: 'filter', key: 'wins-subnet egress', value: NETWORKS };
const ALLOW: NetworkItem = { kind: 'rule', key: '{E} allow', value: '10.42.1.0/24' };
const DENY: NetworkItem = { kind: 'rule', key: '{E} deny', value: '' };
const all = [INGRESS, EGRESS].flatMap((item) => filtersOf(item, OWN) ?? []);
const rules = [ALLOW, DENY].flatMap((item) => filtersOf(item, UPLINK) ?? []);

type Packet = Readonly<Partial<Record<FilterField, number | string>>>;

/** Judges as Windows does: in each group the first matching filter decides, and any group can drop the packet. */
function passes(filters: readonly LabelledFilter[], layer: FilterLayer, packet: Packet): boolean {
  const fits = ({ conditions }: LabelledFilter): boolean =>
    conditions.every(([field]) =>
      conditions.some(([other, value]) => {
        const given = packet[field];
        if (other !== field || given === undefined) return false;
        if (typeof value === 'number') return given === value;
        const address = addressRange(`${given}/32`)?.net ?? 0;
        return address - (address % (2 ** 32 - value.mask)) === value.net;
      }),
    );
  return ['ingress', 'egress', 'rule'].every((group) => {
    const asked = filters
      .filter((one) => one.group === group && one.layer === layer)
      .sort((a, b) => Number(b.isPermit) - Number(a.isPermit));
    return asked.find(fits)?.isPermit ?? true;
  });
}
const forwards = (arrivesBy: number, source: string, leavesBy: number, destination: string) =>
  passes([...all, ...rules], 'forward', { arrivesBy, source, leavesBy, destination });

describe('what is forwarded', () => {
  it.each([
    ['a container to the container of a peer', OWN, '10.42.1.7', UPLINK, '10.42.2.7', true],
    ['the answer', UPLINK, '10.42.2.7', OWN, '10.42.1.7', true],
    ['a container to metadata of Rancher', OWN, '10.42.1.7', OWN, '169.254.169.250', true],
    ['a container to metadata of a cloud', OWN, '10.42.1.7', UPLINK, '169.254.169.254', false],
    ['a container to time of a cloud', OWN, '10.42.1.7', UPLINK, '169.254.169.123', false],
    ['a container to a network behind', OWN, '10.42.1.7', UPLINK, '172.16.0.9', false],
    ['a container to the internet', OWN, '10.42.1.7', OTHER, '203.0.113.9', false],
    ['a container as somebody else', OWN, '172.16.0.9', UPLINK, '10.42.2.7', false],
    ['a stranger to a container', UPLINK, '172.16.0.9', OWN, '10.42.1.7', false],
    ['a peer to elsewhere', UPLINK, '10.42.2.7', OTHER, '192.0.2.9', false],
    ['what others forward', OTHER, '192.0.2.9', UPLINK, '203.0.113.9', true],
  ])('is not more than wanted: %s', (_what, from, source, to, destination, isThrough) => {
    expect(forwards(from, source, to, destination)).toBe(isThrough);
  });

  it('is limited for what the host gets and sends by the interface of containers, too', () => {
    const at = { interface: OWN, remote: '10.42.1.7' };
    expect(passes(all, 'inbound', { ...at, local: '10.42.1.1' })).toBe(true);
    expect(passes(all, 'inbound', { ...at, local: '192.0.2.2' })).toBe(false);
    expect(passes(all, 'inbound', { ...at, local: '10.42.1.1', remote: '10.42.2.7' })).toBe(false);
    expect(passes(all, 'inbound', { ...at, interface: UPLINK, local: '192.0.2.2' })).toBe(true);
    expect(passes(all, 'outbound', { ...at, local: '10.42.1.1' })).toBe(true);
    expect(passes(all, 'outbound', { ...at, local: '192.0.2.2' })).toBe(false);
  });

  it('is nothing of IPv6, by the interface of containers alone', () => {
    expect(passes(all, 'forward6', { arrivesBy: OWN, leavesBy: UPLINK })).toBe(false);
    expect(passes(all, 'forward6', { arrivesBy: UPLINK, leavesBy: OWN })).toBe(false);
    expect(passes(all, 'forward6', { arrivesBy: UPLINK, leavesBy: OTHER })).toBe(true);
    for (const layer of ['inbound6', 'outbound6'] as const) {
      expect(passes(all, layer, { interface: OWN })).toBe(false);
      expect(passes(all, layer, { interface: UPLINK })).toBe(true);
    }
  });

  it('is nothing of what names no networks', () => {
    for (const value of ['', '10.42.1.0/24', '0.0.0.0/0 10.0.0.0/8', 'x; y', '::/64 ::/32'])
      expect(filtersOf({ ...INGRESS, value }, OWN) ?? []).not.toContainEqual(
        expect.objectContaining({ isPermit: true, layer: 'outbound' }),
      );
    expect(filtersOf({ ...INGRESS, value: '0.0.0.0/0' }, OWN)).toBeUndefined();
    expect(filtersOf({ ...INGRESS, key: 'wins-subnet sideways' }, OWN)).toBeUndefined();
    expect(filtersOf({ ...ALLOW, value: '10.42.1.1/24' }, UPLINK)).toBeUndefined();
    expect(filtersOf({ ...DENY, value: '10.42.1.0/24' }, UPLINK)).toBeUndefined();
  });
});

describe('filters that are listed', () => {
  const indexes = new Map([
    ['wins-subnet', OWN],
    ['{E}', UPLINK],
  ]);
  const itemsIn = (labels: Parameters<typeof itemsOfFilters>[0], at = indexes) =>
    itemsOfFilters(labels, (id) => at.get(id));

  it('are the items that they were made of, in whatever order', () => {
    const listed = itemsIn([...all, ...rules].reverse());
    expect(new Set(listed)).toEqual(new Set([INGRESS, EGRESS, ALLOW, DENY]));
  });

  it('are no item when one lacks, is doubled or does something else', () => {
    expect(itemsIn(all.slice(1))).toEqual([EGRESS]);
    expect(itemsIn([...all, ...all.slice(0, 1)])).toEqual([EGRESS]);
    const other = all.map((one, index) => (index === 0 ? { ...one, key: 'f'.repeat(32) } : one));
    expect(itemsIn(other)).toEqual([EGRESS]);
    expect(itemsIn([{ key: '', name: '', description: 'nonsense' }])).toEqual([]);
  });

  it('are no item any more when the interface has another index, and still one when it is gone', () => {
    expect(itemsIn(rules, new Map([['{E}', 9]]))).toEqual([]);
    expect(itemsIn(rules, new Map())).toEqual([ALLOW, DENY]);
  });
});
