import type { HnsCalls } from './hns-calls.js';
import { decodeNetworkIds, guidBytes, findHnsNetwork } from './hns-networks.js';
import { WindowsError } from '../windows-error.js';

// Shortened from the published schemas of both versions of HNS.
const OVERLAY = {
  ID: 'AF8B0C6E-2D7F-4B0E-9E0B-0A5A4B1C2D3E',
  Name: 'vxlan0',
  Type: 'Overlay',
  Policies: [
    { Type: 'HostRoute', Settings: {} },
    { Type: 'ProviderAddress', Settings: { ProviderAddress: '10.0.0.4' } },
  ],
  MacPool: {
    Ranges: [{ StartMacAddress: '00-15-5D-52-C0-00', EndMacAddress: '00-15-5D-52-CF-FF' }],
  },
  Ipams: [
    {
      Type: 'Static',
      Subnets: [
        {
          IpAddressPrefix: '10.42.1.0/24',
          Policies: [{ Type: 'VSID', Settings: { IsolationId: 4096 } }],
          Routes: [{ NextHop: '10.42.1.2', DestinationPrefix: '0.0.0.0/0' }],
        },
        { IpAddressPrefix: '2001:db8:42::/64' },
      ],
    },
  ],
  SchemaVersion: { Major: 2, Minor: 0 },
};
const BARE = { ID: '11111111-2222-3333-4444-555555555555', Name: 'bare', Type: 'Transparent' };
const FIRST_VERSION = {
  Success: true,
  Output: [
    {
      ID: '99999999-2222-3333-4444-555555555555',
      Name: 'nat',
      Type: 'nat',
      ManagementIP: '192.0.2.2',
      Subnets: [{ AddressPrefix: '172.20.0.0/20', GatewayAddress: '172.20.0.1', Policies: [] }],
    },
    { Id: '77777777-2222-3333-4444-555555555555', Name: 'none', Type: 'ics', Subnets: null },
  ],
};

const overlay = {
  id: OVERLAY.ID,
  type: 'Overlay',
  managementIp: '10.0.0.4',
  subnets: [
    { addressCidr: '10.42.1.0/24', gatewayAddress: '10.42.1.2' },
    { addressCidr: '2001:db8:42::/64', gatewayAddress: '' },
  ],
};
const nat = {
  id: '99999999-2222-3333-4444-555555555555',
  type: 'nat',
  managementIp: '192.0.2.2',
  subnets: [{ addressCidr: '172.20.0.0/20', gatewayAddress: '172.20.0.1' }],
};

const absent = () => Promise.reject(new WindowsError('unavailable', 'no such DLL'));

function secondVersion(...networks: readonly { readonly ID: string }[]): HnsCalls {
  return {
    enumerateNetworks: () => Promise.resolve(JSON.stringify(networks.map(({ ID }) => ID))),
    queryNetwork: (id) => {
      const found = networks.find(({ ID }) => guidBytes(ID)?.equals(id) === true);
      return Promise.resolve(JSON.stringify(found));
    },
    callFirstVersion: absent,
  };
}

function firstVersion(answer: unknown): HnsCalls {
  return {
    enumerateNetworks: absent,
    queryNetwork: absent,
    callFirstVersion: () => Promise.resolve(JSON.stringify(answer)),
  };
}

const refusal = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as unknown }) as Error;

it.each([{ name: 'vxlan0' }, { address: '10.42.1.77' }, { address: '2001:db8:42::1' }])(
  'finds a network of the second version by %j',
  async (which) => {
    await expect(findHnsNetwork(which, secondVersion(BARE, OVERLAY))).resolves.toEqual(overlay);
  },
);

it.each([{ name: 'nat' }, { address: '172.20.15.255' }])(
  'finds a network of the first version by %j',
  async (which) => {
    await expect(findHnsNetwork(which, firstVersion(FIRST_VERSION))).resolves.toEqual(nat);
  },
);

it('takes a network without subnets, routes and addresses as it is', async () => {
  const bare = { id: BARE.ID, type: 'Transparent', managementIp: '', subnets: [] };
  await expect(findHnsNetwork({ name: 'bare' }, secondVersion(BARE))).resolves.toEqual(bare);
  await expect(findHnsNetwork({ name: 'none' }, firstVersion(FIRST_VERSION))).resolves.toEqual({
    id: '77777777-2222-3333-4444-555555555555',
    type: 'ics',
    managementIp: '',
    subnets: [],
  });
});

it('takes the default route for the gateway, wherever it stands', async () => {
  const Routes = [
    { NextHop: '10.0.0.9', DestinationPrefix: '10.9.0.0/16' },
    { NextHop: '10.0.0.1', DestinationPrefix: '0.0.0.0/0' },
  ];
  const Ipams = [{ Subnets: [{ IpAddressPrefix: '10.0.0.0/24', Routes }] }];
  const found = findHnsNetwork({ name: 'bare' }, secondVersion({ ...BARE, Ipams } as typeof BARE));
  await expect(found).resolves.toMatchObject({ subnets: [{ gatewayAddress: '10.0.0.1' }] });
});

it('asks both versions in their own words', async () => {
  const asked: unknown[] = [];
  const query = '{"SchemaVersion":{"Major":2,"Minor":0}}';
  const calls: HnsCalls = {
    enumerateNetworks: (text) => (asked.push(text), Promise.resolve(JSON.stringify([OVERLAY.ID]))),
    queryNetwork: (id, text) => {
      asked.push(id.toString('hex'), text);
      return Promise.reject(new Error('the service has stopped'));
    },
    callFirstVersion: (...words) => (asked.push(words), absent()),
  };
  await expect(findHnsNetwork({ name: 'vxlan0' }, calls)).rejects.toEqual(
    refusal('unknown', 'the service has stopped'),
  );
  const id = '6e0c8baf7f2d0e4b9e0b0a5a4b1c2d3e';
  expect(asked).toEqual([query, id, query, ['GET', '/networks/']]);
});

it('passes over a network that is deleted while it looks', async () => {
  const calls = secondVersion(OVERLAY);
  const gone = () => Promise.reject(new WindowsError('notFound', 'gone'));
  await expect(
    findHnsNetwork({ name: 'vxlan0' }, { ...calls, queryNetwork: gone }),
  ).rejects.toEqual(refusal('notFound', 'there are no networks'));
});

it('says which feature misses on a host without HNS', async () => {
  const calls = { enumerateNetworks: absent, queryNetwork: absent, callFirstVersion: absent };
  await expect(findHnsNetwork({ name: 'nat' }, calls)).rejects.toEqual(
    refusal('unavailable', 'the Host Networking Service is missing. Install the Windows feature'),
  );
});

it.each([
  [{ name: 'NAT' }, 'notFound', '{"name":"NAT"}: there are only "nat", "none"'],
  [{ name: '' }, 'notFound', 'there are only'],
  [{ address: '172.20.16.0' }, 'notFound', 'there are only'],
  [{ address: 'nat' }, 'invalidArgument', 'it is not an IPv4 or IPv6 address'],
])('says what is wrong with %j', async (which, code, message) => {
  const found = findHnsNetwork(which, firstVersion(FIRST_VERSION));
  await expect(found).rejects.toEqual(refusal(code, message));
});

it.each([
  [{ Success: false, Error: 'Element not found.\n' }, 'HNS refused: "Element not found.\\n"'],
  [null, 'HNS refused: ""'],
])('says what HNS said: %j', async (answer, message) => {
  const found = findHnsNetwork({ name: 'nat' }, firstVersion(answer));
  await expect(found).rejects.toEqual(refusal('unknown', message));
});

it.each(['', 'nonsense', '{"Success":true'])('does not choke on %j', async (text) => {
  const calls = { ...firstVersion({}), callFirstVersion: () => Promise.resolve(text) };
  await expect(findHnsNetwork({ name: 'nat' }, calls)).rejects.toMatchObject({ code: 'unknown' });
});

it.each([[{}], [[1, null, 'x', '11111111-2222-3333-4444-55555555555']], ['text'], [null]])(
  'finds no ids in %j',
  (json) => expect(decodeNetworkIds(JSON.stringify(json))).toEqual([]),
);

it.each([{ Subnets: 7 }, { Subnets: [null, 7, 'x', {}] }, { Name: 5, Type: {} }])(
  'reads what is missing or misshaped as empty: %j',
  async (shape) => {
    const answer = { Success: true, Output: [{ ...shape }, { Name: 'nat', ...shape }, 'x', null] };
    const name = 'Name' in shape ? '' : 'nat';
    await expect(findHnsNetwork({ name }, firstVersion(answer))).resolves.toMatchObject({ id: '' });
  },
);
