import {
  CONTAINER_NETWORK,
  formatNetwork,
  networkOf,
  parseNetwork,
  type IpNetwork,
} from '@wins/base';
import {
  hostRoutesOf,
  WindowsError,
  type AdapterEntry,
  type ContainerNetworkCalls,
  type ForwardRow,
  type LabelledFilter,
  type NamedHnsNetwork,
} from '@wins/windows-host';
import type { RouteRecords } from '../keep/route-records.js';
import type { Owned } from '../plan/plan.js';

export type WindowsCall = keyof ContainerNetworkCalls | 'add' | 'remove' | 'write';

const network = (text: string): IpNetwork => {
  const parsed = parseNetwork(text);
  if (parsed === undefined) throw new RangeError(text);
  return parsed;
};
const NONE = Uint8Array.of(0, 0, 0, 0);
const HOST_INTERFACE = `vEthernet (${CONTAINER_NETWORK})`;

/**
 * Model of Windows. HNS takes over an adapter, and adds an interface with another index. Each new address adds routes. Filters
 * change in one transaction. The model dies at a call that the test chooses; later calls have no effect.
 */
export class WindowsModel implements RouteRecords {
  adapters: AdapterEntry[];
  networks: NamedHnsNetwork[] = [];
  filters: LabelledFilter[] = [];
  forwarding: Map<number, boolean>;
  rows: ForwardRow[] = [];
  attached: string[] = [];
  recorded: readonly Owned[] = [];
  /** The last request to HNS. */
  settings = '';
  callsLeft = Infinity;
  /** Number of times that HNS lists its networks. Each later attempt fails with `timeout`. */
  listsLeft = Infinity;
  /** True if the call at which the model dies still takes effect. If false, that call has no effect. */
  diesAfter = false;
  isDead = false;
  changes = 0;
  onChange: () => unknown = () => undefined;
  readonly denied = new Set<WindowsCall>();
  #taken: AdapterEntry | undefined;
  #nextIndex = 20;

  constructor() {
    const adapter = (index: number, guid: string, name: string, address: string): AdapterEntry => ({
      index,
      guid,
      name,
      isUp: true,
      metrics: { ipv4: 0, ipv6: 0 },
      addresses: [network(address)],
    });
    this.adapters = [
      adapter(4, '{E0}', 'Ethernet', '192.0.2.2/24'),
      adapter(5, '{E1}', 'Ethernet 2', '172.16.0.2/24'),
      adapter(9, '{L}', CONTAINER_NETWORK, '169.254.3.3/16'),
    ];
    this.forwarding = new Map(this.adapters.map(({ index }) => [index, false]));
  }

  readonly host = hostRoutesOf(
    {
      read: () => [...this.rows, ...this.#onLink()],
      add: (row) =>
        this.#perform('add', () => {
          if (this.#find(row) !== undefined) return false;
          this.rows.push(row);
          return true;
        }),
      remove: (row) =>
        this.#perform('remove', () => {
          const found = this.#find(row);
          this.rows = this.rows.filter((one) => one !== found);
        }),
    },
    {
      adapters: () => [...this.adapters],
      networks: () =>
        this.#later(() => {
          this.#permit('networks');
          if ((this.listsLeft -= 1) < 0) throw new WindowsError('timeout', 'HNS does not answer');
          return [...this.networks];
        }),
      createNetwork: (id, settings) =>
        this.#later(() => this.#perform('createNetwork', () => this.#create(id, settings))),
      deleteNetwork: () => this.#later(() => this.#perform('deleteNetwork', () => this.#delete())),
      enumerateEndpoints: () => Promise.resolve(JSON.stringify(this.attached)),
      addAddress: (index, address) =>
        this.#perform('addAddress', () => {
          const { addresses } = this.#at(index);
          if (addresses.some((one) => formatNetwork(one) === formatNetwork(address))) return false;
          this.#address(index, [...addresses, address]);
          return true;
        }),
      removeAddress: (index, address) =>
        this.#perform('removeAddress', () => {
          const others = this.#at(index).addresses.filter(
            (one) => formatNetwork(one) !== formatNetwork(address),
          );
          this.#address(index, others);
        }),
      isForwarding: (index) => {
        this.#permit('isForwarding');
        return this.forwarding.get(index);
      },
      setForwarding: (index, isOn) =>
        this.#perform('setForwarding', () => this.forwarding.set(this.#at(index).index, isOn)),
      readFilters: () => {
        this.#permit('readFilters');
        return this.filters.map(({ key, name, description }) => ({ key, name, description }));
      },
      changeFilters: ({ add, remove }) =>
        this.#perform('changeFilters', () => {
          this.filters = [...this.filters.filter(({ key }) => !remove.includes(key)), ...add];
        }),
    },
    () => 0,
  );

  /** State of the host, without `recorded`. */
  get state(): readonly string[] {
    return [
      ...this.adapters.map(({ guid, name, addresses }) =>
        [guid, name, ...addresses.map(formatNetwork)].join(' '),
      ),
      ...this.networks.map((one) => `network ${one.name} ${JSON.stringify(one.subnets)}`),
      ...this.filters.map(({ name, layer, isPermit }) => `filter ${name} ${layer} ${isPermit}`),
      ...this.adapters.map(({ name, index }) => `forwarding ${name} ${this.forwarding.get(index)}`),
      ...this.rows.map((row) => `route ${formatNetwork(row.destination)}`),
    ].sort();
  }

  index(name: string): number {
    return this.adapters.find((one) => one.name === name)?.index ?? -1;
  }

  /** Removes the network of HNS, its interface, and the routes of that interface. */
  loseNetwork(): void {
    this.#delete();
  }

  /** Gives an adapter another index, as a new installation of its driver does. */
  renumber(name: string): void {
    const index = this.#nextIndex++;
    const before = this.index(name);
    this.forwarding.set(index, this.forwarding.get(before) ?? false);
    this.forwarding.delete(before);
    this.rows = this.rows.filter((row) => row.interfaceIndex !== before);
    this.adapters = this.adapters.map((one) => (one.name === name ? { ...one, index } : one));
  }

  revive(): void {
    this.isDead = false;
    this.callsLeft = Infinity;
    this.listsLeft = Infinity;
  }

  read(): Promise<readonly Owned[]> {
    return Promise.resolve(this.recorded);
  }

  write(owned: readonly Owned[]): Promise<void> {
    return this.#later(() =>
      this.#perform('write', () => {
        this.recorded = owned;
      }),
    );
  }

  async #later<T>(action: () => T): Promise<T> {
    await Promise.resolve();
    return action();
  }

  #permit(name: WindowsCall): void {
    if (this.denied.has(name)) throw new WindowsError('accessDenied', `${name}: not permitted`);
  }

  #perform<T>(name: WindowsCall, change: () => T): T {
    const dead = new Error('the process has died');
    if (this.isDead) throw dead;
    this.#permit(name);
    this.isDead = (this.callsLeft -= 1) < 0;
    if (this.isDead && !this.diesAfter) throw dead;
    if (name !== 'write') this.changes += 1;
    const result = change();
    this.onChange();
    if (this.isDead) throw dead;
    return result;
  }

  #create(id: Buffer, settings: string): void {
    this.settings = settings;
    const {
      Name: name,
      Type: type,
      Ipams: ipams,
    } = JSON.parse(settings) as {
      Name: string;
      Type: string;
      Ipams: [{ Subnets: [{ IpAddressPrefix: string; Routes: [{ NextHop: string }] }] }];
    };
    const [{ IpAddressPrefix: addressCidr, Routes: routes }] = ipams[0].Subnets;
    const subnets = [{ addressCidr, gatewayAddress: routes[0].NextHop }];
    this.networks.push({ id: textOf(id), name, type, managementIp: '', subnets });
    this.#taken = this.adapters.find((one) => one.name === CONTAINER_NETWORK);
    if (this.#taken === undefined) throw new WindowsError('notFound', 'no adapter');
    const index = this.#nextIndex++;
    const made = { ...this.#taken, index, guid: `{V${index}}`, name: HOST_INTERFACE };
    this.adapters = this.adapters.map((one) =>
      one === this.#taken ? { ...one, addresses: [] } : one,
    );
    this.adapters.push(made);
    this.forwarding.set(index, false);
  }

  #delete(): void {
    this.networks = this.networks.filter(({ name }) => name !== CONTAINER_NETWORK);
    const index = this.index(HOST_INTERFACE);
    this.forwarding.delete(index);
    this.rows = this.rows.filter((row) => row.interfaceIndex !== index);
    this.adapters = this.adapters
      .filter(({ name }) => name !== HOST_INTERFACE)
      .map((one) => (one.name === CONTAINER_NETWORK ? (this.#taken ?? one) : one));
  }

  #at(index: number): AdapterEntry {
    const adapter = this.adapters.find((one) => one.index === index);
    if (adapter === undefined) throw new WindowsError('notFound', 'no interface');
    return adapter;
  }

  #address(index: number, addresses: readonly IpNetwork[]): void {
    this.adapters = this.adapters.map((one) => (one.index === index ? { ...one, addresses } : one));
  }

  #find(row: ForwardRow): ForwardRow | undefined {
    const key = (one: ForwardRow) =>
      JSON.stringify([one.destination, one.nextHop, one.interfaceIndex]);
    return this.rows.find((one) => key(one) === key(row));
  }

  #onLink(): readonly ForwardRow[] {
    return this.adapters.flatMap(({ index, addresses }) =>
      addresses.map((address) => ({
        destination: networkOf(address),
        nextHop: NONE,
        interfaceIndex: index,
        metric: 0,
        protocol: 2,
      })),
    );
  }
}

/** Formats a GUID from its layout in memory. */
function textOf(id: Buffer): string {
  const parts = [id.subarray(0, 4), id.subarray(4, 6), id.subarray(6, 8)].map((part) =>
    Buffer.from(part).reverse().toString('hex'),
  );
  return [...parts, id.toString('hex', 8, 10), id.toString('hex', 10)].join('-').toUpperCase();
}
