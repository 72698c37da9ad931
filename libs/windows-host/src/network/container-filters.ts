import {
  addressRange,
  CONTAINER_NETWORK,
  containerLimits,
  type AddressRange,
  type NetworkItem,
} from '@wins/base';
import { createHash } from 'node:crypto';

/**
 * Stage at which packets are filtered. `forward`: between two interfaces. `inbound`, `outbound`: received or sent by
 * the host itself. The suffix 6 means IPv6.
 */
export type FilterLayer =
  | 'forward'
  | 'inbound'
  | 'outbound'
  | 'forward6'
  | 'inbound6'
  | 'outbound6';

/** Every group of filters sees every packet. A packet passes if no group blocks it. */
export type FilterGroup = 'ingress' | 'egress' | 'rule';

/** `arrivesBy` and `leavesBy` apply to forwarded packets, `interface` to packets that the host receives or sends. */
export type FilterField =
  | 'arrivesBy'
  | 'leavesBy'
  | 'source'
  | 'destination'
  | 'interface'
  | 'local'
  | 'remote';

/** Conditions on the same field are alternatives; conditions on different fields must all hold. */
export type FilterCondition = readonly [field: FilterField, value: number | AddressRange];

/** A filter of the Windows Filtering Platform. Within a group, permitting filters take precedence over blocking ones. */
export interface PacketFilter {
  readonly layer: FilterLayer;
  readonly group: FilterGroup;
  readonly isPermit: boolean;
  readonly conditions: readonly FilterCondition[];
}

/** Properties that the system lists for a filter. */
export interface FilterLabel {
  /** Digest of the filter's behaviour, 32 hexadecimal digits. */
  readonly key: string;
  /** The key of the {@link NetworkItem}. */
  readonly name: string;
  /** Contains the index of the interface, a space, and the value of the item. */
  readonly description: string;
}

/** A filter with the properties by which wins recognises it later. */
export interface LabelledFilter extends PacketFilter, FilterLabel {}

/**
 * Returns filters for forwarded packets. If `kind` is `filter`, adds filters for packets of the host itself, because
 * containers reach the host's addresses without forwarding.
 *
 * @returns undefined if `key` or `value` is invalid.
 */
export function filtersOf(
  { kind, key, value }: NetworkItem,
  index: number,
): readonly LabelledFilter[] | undefined {
  const what = key.split(' ')[1];
  const filters = kind === 'filter' ? limiting(what, value, index) : ruling(what, value, index);
  return filters?.map((filter) => ({ ...filter, ...labelOf(filter, key, `${index} ${value}`) }));
}

/**
 * Returns the items whose filters all exist. Omits an item whose interface has a new index.
 *
 * @param indexOf - Returns undefined if the interface is gone. Items of such an interface are returned too, for removal.
 */
export function itemsOfFilters(
  labels: readonly FilterLabel[],
  indexOf: (interfaceId: string) => number | undefined,
): readonly NetworkItem[] {
  const names = new Set(labels.map(({ name }) => name));
  return [...names].flatMap((key) => {
    const found = labels.filter(({ name }) => name === key);
    const [, index = '', value = ''] = /^(\d+) (.*)$/.exec(found[0]?.description ?? '') ?? [];
    const [id = '', what = ''] = key.split(' ');
    const kind = id === CONTAINER_NETWORK && /^(?:in|e)gress$/.test(what) ? 'filter' : 'rule';
    const item = { kind, key, value } as const;
    const meant = filtersOf(item, indexOf(id) ?? Number(index)) ?? [];
    const isWhole =
      meant.length === found.length &&
      meant.every((filter) => found.some((at) => at.key === filter.key));
    return isWhole ? [item] : [];
  });
}

type Filters = readonly PacketFilter[] | undefined;

function limiting(what: string | undefined, value: string, index: number): Filters {
  const limits = containerLimits(value.split(' '));
  if (limits === undefined || (what !== 'ingress' && what !== 'egress')) return undefined;
  const { near, away } = limits;
  const isIngress = what === 'ingress';
  const [from, to] = isIngress ? [near, away] : [away, near];
  const forwarded: FilterCondition = [isIngress ? 'arrivesBy' : 'leavesBy', index];
  const own: FilterCondition = ['interface', index];
  const layer = isIngress ? 'inbound' : 'outbound';
  const block = { group: what, isPermit: false } as const;
  return [
    ...onlyPermitting('forward', what, forwarded, { source: from, destination: to }),
    ...onlyPermitting(layer, what, own, { local: away, remote: near }),
    // Block IPv6 too, because the host has link-local IPv6 addresses on this interface.
    { ...block, layer: 'forward6', conditions: [forwarded] },
    { ...block, layer: `${layer}6`, conditions: [own] },
  ];
}

function ruling(what: string | undefined, value: string, index: number): Filters {
  const network = addressRange(value);
  const destination = network === undefined ? [] : [network];
  const both = onlyPermitting('forward', 'rule', ['arrivesBy', index], { destination });
  if (what === 'allow') return network && both.slice(0, 1);
  return what === 'deny' && value === '' ? both.slice(1) : undefined;
}

/**
 * Returns two filters for the traffic that `of` selects. The first permits such traffic within `networks`. The second
 * blocks all other such traffic.
 */
function onlyPermitting(
  layer: FilterLayer,
  group: FilterGroup,
  of: FilterCondition,
  networks: Readonly<Partial<Record<FilterField, readonly AddressRange[]>>>,
): readonly PacketFilter[] {
  const within = Object.entries(networks).flatMap(([field, ranges]) =>
    ranges.map((range): FilterCondition => [field as FilterField, range]),
  );
  return [
    { layer, group, isPermit: true, conditions: [of, ...within] },
    { layer, group, isPermit: false, conditions: [of] },
  ];
}

function labelOf(filter: PacketFilter, name: string, description: string): FilterLabel {
  const { layer, group, isPermit, conditions } = filter;
  const all = JSON.stringify([layer, group, isPermit, conditions]);
  const key = createHash('sha256').update(all).digest('hex').slice(0, 32);
  return { key, name, description };
}
