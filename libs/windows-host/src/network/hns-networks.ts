import {
  escapeJson,
  messageOf,
  overlap,
  parseNetwork,
  quoteText,
  type HnsNetwork,
  type NetworkSelector,
} from '@wins/wins-program';
import {
  decodeFirstVersion,
  decodeNetworkIds,
  decodeSecondVersion,
  guidBytes,
  type NamedHnsNetwork,
} from './hns-networks-json.js';
import { callFirstVersion, enumerateNetworks, queryNetwork } from '../win32/host-compute.js';
import { WindowsError } from '../windows-error.js';

/** The calls of the Host Networking Service that are needed here. Each answers with JSON. */
export interface HnsCalls {
  /** Second version: a list of ids. */
  enumerateNetworks(query: string): Promise<string>;
  /** Second version: one network by the 16 bytes of its id. */
  queryNetwork(id: Buffer, query: string): Promise<string>;
  /** First version: a request such as GET /networks/. */
  callFirstVersion(method: string, path: string): Promise<string>;
}

/** The service of this host. */
export const systemHnsCalls: HnsCalls = { enumerateNetworks, queryNetwork, callFirstVersion };

const QUERY = JSON.stringify({ SchemaVersion: { Major: 2, Minor: 0 } });

/**
 * Finds an HNS network: by its name, or by an address in one of its subnets. The second version of HNS is asked, and the first
 * where there is no second or it fails.
 *
 * @throws WindowsError `notFound`; `invalidArgument` for a text that is not an address; `unavailable` on a host without HNS.
 */
export async function findHnsNetwork(which: NetworkSelector, calls: HnsCalls): Promise<HnsNetwork> {
  const isMeant = matcher(which);
  const { id, type, managementIp, subnets } = choose(await listNetworks(calls), which, isMeant);
  return { id, type, managementIp, subnets };
}

async function listNetworks(calls: HnsCalls): Promise<readonly NamedHnsNetwork[]> {
  let second: unknown;
  try {
    return await listBySecondVersion(calls);
  } catch (error) {
    second = error;
  }
  try {
    return decodeFirstVersion(await calls.callFirstVersion('GET', '/networks/'));
  } catch (first) {
    // What the second version said is nearer to the matter, unless it is not there at all.
    const cause = isUnavailable(second) ? first : second;
    if (cause instanceof WindowsError && !isUnavailable(cause)) throw cause;
    const tried = 'looked for the networks of HNS';
    if (isUnavailable(cause)) {
      const found = 'the Host Networking Service is not there';
      const wanted = 'wanted the Windows feature Containers, which is not installed';
      throw new WindowsError('unavailable', `${tried}: ${found}; ${wanted}`, { cause });
    }
    const found = messageOf(cause);
    throw new WindowsError('unknown', `${tried}: ${found}`, { cause });
  }
}

async function listBySecondVersion(calls: HnsCalls): Promise<readonly NamedHnsNetwork[]> {
  const networks: NamedHnsNetwork[] = [];
  for (const id of decodeNetworkIds(await calls.enumerateNetworks(QUERY))) {
    try {
      const bytes = guidBytes(id);
      if (bytes === undefined) continue;
      networks.push(decodeSecondVersion(await calls.queryNetwork(bytes, QUERY)));
    } catch (error) {
      // It was deleted since it was listed.
      if (!(error instanceof WindowsError && error.code === 'notFound')) throw error;
    }
  }
  return networks;
}

/** @throws WindowsError `invalidArgument`. */
function matcher(which: NetworkSelector): (network: NamedHnsNetwork) => boolean {
  if ('name' in which) return ({ name }) => name === which.name;
  const address = which.address.includes('/') ? undefined : parseNetwork(which.address);
  if (address === undefined) {
    const tried = `looked for the HNS network of the address ${quoteText(which.address)}`;
    throw new WindowsError('invalidArgument', `${tried}: wanted an IPv4 or IPv6 address`);
  }
  return ({ subnets }) =>
    subnets.some(({ addressCidr }) => {
      const subnet = parseNetwork(addressCidr);
      return subnet !== undefined && overlap(address, subnet);
    });
}

function choose(
  networks: readonly NamedHnsNetwork[],
  which: NetworkSelector,
  isMeant: (network: NamedHnsNetwork) => boolean,
): NamedHnsNetwork {
  const network = networks.find(isMeant);
  if (network !== undefined) return network;
  const known = networks.map(({ name }) => quoteText(name)).join(', ');
  const found = known === '' ? 'there are no networks' : `there are only ${known}`;
  const tried = `looked for the HNS network ${escapeJson(JSON.stringify(which))}`;
  throw new WindowsError('notFound', `${tried}: ${found}`);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof WindowsError && error.code === 'unavailable';
}
