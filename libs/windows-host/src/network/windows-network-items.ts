import {
  CONTAINER_NETWORK,
  formatNetwork,
  messageOf,
  overlap,
  parseNetwork,
  type IpNetwork,
  type ItemChange,
  type ListedItem,
  type NetworkItem,
  type RouteOutcome,
  type RoutingState,
} from '@wins/base';
import { systemClock } from '@wins/time';
import { WindowsError, type WindowsErrorCode } from '../windows-error.js';
import { filtersOf, itemsOfFilters, type FilterLabel } from './container-filters.js';
import { createNetwork, deleteNetwork, enumerateEndpoints, systemHnsCalls } from './hns-calls.js';
import {
  decodeNetworkIds,
  guidBytes,
  listNetworks,
  SECOND_VERSION,
  type NamedHnsNetwork,
} from './hns-networks.js';
import { addAddress, isForwarding, removeAddress, setForwarding } from './interface-settings.js';
import { networkAdapters, type AdapterEntry } from './network-adapters.js';
import { changeFilters, readFilters, type FilterChanges } from './packet-filters.js';

/** Windows calls that set up the network of containers. They throw WindowsErrors. */
export interface ContainerNetworkCalls {
  adapters(): readonly AdapterEntry[];
  networks(): Promise<readonly NamedHnsNetwork[]>;
  createNetwork(id: Buffer, settings: string): Promise<void>;
  deleteNetwork(id: Buffer): Promise<void>;
  /** Returns the ids of the endpoints that match `query`, as a JSON array. */
  enumerateEndpoints(query: string): Promise<string>;
  /** @returns false when the interface already has the address. */
  addAddress(interfaceIndex: number, address: IpNetwork): boolean;
  removeAddress(interfaceIndex: number, address: IpNetwork): void;
  /** Undefined when there is no such interface. */
  isForwarding(interfaceIndex: number): boolean | undefined;
  setForwarding(interfaceIndex: number, isOn: boolean): void;
  readFilters(): readonly FilterLabel[];
  /** Applies all changes or none. */
  changeFilters(changes: FilterChanges): void;
}

export const systemContainerCalls: ContainerNetworkCalls = {
  adapters: networkAdapters,
  networks: () => listNetworks(systemHnsCalls),
  createNetwork,
  deleteNetwork,
  enumerateEndpoints,
  addAddress,
  removeAddress,
  isForwarding,
  setForwarding,
  readFilters,
  changeFilters,
};

/** Fixed id by which we recognise our network: HNS accepts an id from the creator. */
export const NETWORK_ID = '6f3a7c52-0f0e-4f5b-9a0c-5d1f6a8e2b40';
/** The host's own interface in the network. HNS names it after the adapter, which has the name of the network. */
const HOST_INTERFACE = `vEthernet (${CONTAINER_NETWORK})`;
/** EnableNonPersistent: HNS does not store the network, so a restart removes it. */
const NOT_STORED = 8;
const LINK_LOCAL: IpNetwork = { bytes: Uint8Array.of(169, 254, 0, 0), prefix: 16 };
/** The interface appears some time after HNS has reported the network. */
const [INTERFACE_LOOKS, INTERFACE_LOOK_MS] = [20, 250] as const;

/** Returns a fixed name for `HOST_INTERFACE`; for others, the GUID, which survives renaming and a new index. */
export function interfaceIdOf({ guid, name }: AdapterEntry): string {
  return name === HOST_INTERFACE ? CONTAINER_NETWORK : guid;
}

/** Returns no items if the host has no HNS or no filtering platform. Never rejects. */
export async function listItems(
  calls: ContainerNetworkCalls,
): Promise<Pick<RoutingState, 'items' | 'itemsError' | 'hasSubnetOnBridge'>> {
  try {
    const entries = calls.adapters();
    const items = [
      ...bridgeAmong(await calls.networks()),
      ...addressesOf(entries),
      ...listedFilters(calls, entries).map((item) => ({ ...item, isMarked: true })),
      ...entries.flatMap((entry): readonly ListedItem[] => {
        const isOn = calls.isForwarding(entry.index);
        const key = interfaceIdOf(entry);
        return isOn === undefined ? [] : [{ kind: 'forwarding', key, value: isOn ? '1' : '0' }];
      }),
    ];
    return { items, hasSubnetOnBridge: true };
  } catch (error) {
    const isUnsupported = error instanceof WindowsError && error.code === 'unavailable';
    return isUnsupported ? {} : { itemsError: error };
  }
}

/** Never rejects. */
export async function changeItem(
  { op, item, prior }: ItemChange,
  calls: ContainerNetworkCalls,
): Promise<RouteOutcome> {
  return outcomeOf(() => (op === 'add' ? addItem(item, calls) : removeItem(item, prior, calls)));
}

/** @param action - Returns false when an identical item already existed. */
export async function outcomeOf(action: () => boolean | Promise<boolean>): Promise<RouteOutcome> {
  try {
    return { kind: (await action()) ? 'done' : 'exists' };
  } catch (error) {
    const isDenied = error instanceof WindowsError && error.code === 'accessDenied';
    return { kind: 'failed', isDenied, message: messageOf(error) };
  }
}

/** @returns false when the item already existed. */
async function addItem(item: NetworkItem, calls: ContainerNetworkCalls): Promise<boolean> {
  const { kind, key, value } = item;
  switch (kind) {
    case 'bridge':
      return addBridge(item, calls);
    case 'address':
      return calls.addAddress(interfaceOf(value, calls).index, addressIn(key));
    case 'filter':
    case 'rule': {
      const filters = filtersOf(item, interfaceOf(key.split(' ')[0], calls).index);
      if (filters === undefined)
        throw new WindowsError('invalidArgument', `not a ${kind}: ${value}`);
      // The same transaction replaces the filters that this item had for an earlier interface index.
      const found = calls.readFilters().filter(({ name }) => name === key);
      const keys = new Set(found.map((one) => one.key));
      const meant = new Set(filters.map((one) => one.key));
      calls.changeFilters({
        add: filters.filter((one) => !keys.has(one.key)),
        remove: [...keys].filter((one) => !meant.has(one)),
      });
      return true;
    }
    case 'forwarding': {
      const { index } = interfaceOf(key, calls);
      const isOn = value === '1';
      if (calls.isForwarding(index) === isOn) return false;
      calls.setForwarding(index, isOn);
      return true;
    }
  }
}

async function addBridge(item: NetworkItem, calls: ContainerNetworkCalls): Promise<boolean> {
  const { key, value } = item;
  if (bridgeAmong(await calls.networks()).length > 0) return false;
  // HNS takes the adapter away from the host, so refuse one that carries the host's traffic.
  const adapter = calls.adapters().find(({ name }) => name === key);
  const unfit = (code: WindowsErrorCode, found: string): WindowsError => {
    const wanted = `wanted a loopback adapter with the name ${key}`;
    return new WindowsError(code, `cannot make the network: ${found}; ${wanted}`);
  };
  if (adapter === undefined) throw unfit('notFound', 'there is no such adapter');
  const own = adapter.addresses.find((one) => one.bytes.length === 4 && !overlap(one, LINK_LOCAL));
  if (own !== undefined)
    throw unfit('busy', `its adapter carries ${formatNetwork(own)} of the host`);
  await calls.createNetwork(networkId(), networkSettings(value));
  for (let looks = 0; looks < INTERFACE_LOOKS; looks += 1) {
    if (calls.adapters().some(({ name }) => name === HOST_INTERFACE)) return true;
    await systemClock.wait(INTERFACE_LOOK_MS);
  }
  const found = `HNS created it, but ${HOST_INTERFACE} did not appear within 5 s`;
  throw new WindowsError('notVerified', `cannot make the network: ${found}`);
}

export function networkSettings(value: string): string {
  const [subnet, gateway] = value.split(' ');
  const routes = [{ NextHop: gateway, DestinationPrefix: '0.0.0.0/0' }];
  return JSON.stringify({
    Name: CONTAINER_NETWORK,
    Type: 'Transparent',
    Flags: NOT_STORED,
    Policies: [{ Type: 'NetAdapterName', Settings: { NetworkAdapterName: CONTAINER_NETWORK } }],
    Ipams: [{ Type: 'Static', Subnets: [{ IpAddressPrefix: subnet, Routes: routes }] }],
    ...SECOND_VERSION,
  });
}

/** Does nothing unless the host has exactly this item. */
async function removeItem(
  item: NetworkItem,
  prior: string | undefined,
  calls: ContainerNetworkCalls,
): Promise<boolean> {
  const { kind, key, value } = item;
  const isSame = (at: NetworkItem): boolean =>
    at.kind === kind && at.key === key && at.value === value;
  const entries = calls.adapters();
  const entry = entries.find((one) => interfaceIdOf(one) === (kind === 'address' ? value : key));
  switch (kind) {
    case 'bridge': {
      if (!bridgeAmong(await calls.networks()).some(isSame)) break;
      const Filter = JSON.stringify({ VirtualNetwork: NETWORK_ID });
      const query = JSON.stringify({ ...SECOND_VERSION, Filter });
      const attached = decodeNetworkIds(await calls.enumerateEndpoints(query)).length;
      if (attached > 0)
        throw new WindowsError('busy', `${attached} containers are attached to ${key}`);
      await calls.deleteNetwork(networkId());
      break;
    }
    case 'address':
      if (entry !== undefined && addressesOf(entries).some(isSame))
        calls.removeAddress(entry.index, addressIn(key));
      break;
    case 'filter':
    case 'rule': {
      if (!listedFilters(calls, entries).some(isSame)) break;
      const found = calls.readFilters().filter(({ name }) => name === key);
      calls.changeFilters({ add: [], remove: found.map((one) => one.key) });
      break;
    }
    case 'forwarding':
      // Restores `prior` only if nobody has changed the value since.
      if (entry !== undefined && prior !== undefined)
        if (calls.isForwarding(entry.index) === (value === '1'))
          calls.setForwarding(entry.index, prior === '1');
  }
  return true;
}

/** A network with our name but another id belongs to someone else, so its `isMarked` is false. */
function bridgeAmong(networks: readonly NamedHnsNetwork[]): readonly ListedItem[] {
  const ours = networks.find(({ id }) => id.toLowerCase() === NETWORK_ID);
  const there = ours ?? networks.find(({ name }) => name === CONTAINER_NETWORK);
  if (there === undefined) return [];
  const { name, type, subnets } = there;
  const [subnet, ...more] = subnets;
  const isAsMade = ours !== undefined && name === CONTAINER_NETWORK && /^transparent$/i.test(type);
  const value =
    isAsMade && subnet !== undefined && more.length === 0
      ? `${subnet.addressCidr} ${subnet.gatewayAddress}`
      : 'another network';
  return [{ kind: 'bridge', key: CONTAINER_NETWORK, value, isMarked: ours !== undefined }];
}

function addressesOf(entries: readonly AdapterEntry[]): readonly ListedItem[] {
  const own = entries.find(({ name }) => name === HOST_INTERFACE)?.addresses ?? [];
  return own
    .filter(({ bytes }) => bytes.length === 4)
    .map((address) => ({
      ...({ kind: 'address', key: formatNetwork(address), value: CONTAINER_NETWORK } as const),
    }));
}

function listedFilters(
  calls: ContainerNetworkCalls,
  entries: readonly AdapterEntry[],
): readonly NetworkItem[] {
  const indexes = new Map(entries.map((entry) => [interfaceIdOf(entry), entry.index]));
  return itemsOfFilters(calls.readFilters(), (id) => indexes.get(id));
}

/** @throws WindowsError `notFound` */
function interfaceOf(id: string | undefined, calls: ContainerNetworkCalls): AdapterEntry {
  const entry = calls.adapters().find((one) => interfaceIdOf(one) === id);
  if (entry === undefined) throw new WindowsError('notFound', `there is no interface ${id}`);
  return entry;
}

function addressIn(key: string): IpNetwork {
  const address = parseNetwork(key);
  if (address === undefined) throw new WindowsError('invalidArgument', `not an address: ${key}`);
  return address;
}

function networkId(): Buffer {
  return guidBytes(NETWORK_ID) ?? Buffer.alloc(16);
}
