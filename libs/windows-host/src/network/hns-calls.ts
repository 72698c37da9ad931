import { quoteText } from '@wins/base';
import { systemError, WindowsError } from '../windows-error.js';
import { inBackground } from '../win32/calls/call.js';
import { loadKoffi, systemLibrary } from '../win32/calls/system-library.js';
import { kernel32 } from '../win32/kernel32.js';

type OutPointer = [bigint | null];

const FEATURE = 'the Host Networking Service (Windows feature Containers)';
// Ample: the description of a network takes a few kilobytes.
const MAX_CHARACTERS = 16 * 1024 * 1024;

const memory = systemLibrary('ole32.dll', FEATURE, ['void CoTaskMemFree(void *memory)']);

/** https://learn.microsoft.com/virtualization/api/hcn/reference */
const computeNetwork = systemLibrary('computenetwork.dll', FEATURE, [
  'int32_t HcnEnumerateNetworks(str16 query, _Out_ void **networks, _Out_ void **errorRecord)',
  'int32_t HcnOpenNetwork(void *id, _Out_ void **network, _Out_ void **errorRecord)',
  'int32_t HcnQueryNetworkProperties(void *network, str16 query, _Out_ void **properties, _Out_ void **errorRecord)',
  'int32_t HcnCloseNetwork(void *network)',
  'int32_t HcnCreateNetwork(void *id, str16 settings, _Out_ void **network, _Out_ void **errorRecord)',
  'int32_t HcnDeleteNetwork(void *id, _Out_ void **errorRecord)',
  'int32_t HcnEnumerateEndpoints(str16 query, _Out_ void **endpoints, _Out_ void **errorRecord)',
]);

/** The first version of the HNS interface. It is undocumented, but github.com/microsoft/hcsshim uses it. */
const vmCompute = systemLibrary('vmcompute.dll', FEATURE, [
  'int32_t HNSCall(str16 method, str16 path, str16 request, _Out_ void **response)',
]);

export async function enumerateNetworks(query: string): Promise<string> {
  const { HcnEnumerateNetworks } = computeNetwork;
  const networks: OutPointer = [null];
  const record: OutPointer = [null];
  const { result } = await inBackground(HcnEnumerateNetworks, query, networks, record);
  return answer(
    'cannot list the networks of HNS',
    'HcnEnumerateNetworks',
    result,
    networks,
    record,
  );
}

/** The id is a GUID of 16 bytes. */
async function queryNetwork(id: Buffer, query: string): Promise<string> {
  const { HcnOpenNetwork, HcnQueryNetworkProperties, HcnCloseNetwork } = computeNetwork;
  const network: OutPointer = [null];
  const openRecord: OutPointer = [null];
  const { result: opened } = await inBackground(HcnOpenNetwork, id, network, openRecord);
  answer('cannot open a network of HNS', 'HcnOpenNetwork', opened, [null], openRecord);
  const [handle] = network;
  try {
    const found: OutPointer = [null];
    const record: OutPointer = [null];
    const { result } = await inBackground(HcnQueryNetworkProperties, handle, query, found, record);
    return answer(
      'cannot read a network of HNS',
      'HcnQueryNetworkProperties',
      result,
      found,
      record,
    );
  } finally {
    await inBackground(HcnCloseNetwork, handle);
  }
}

/** The caller chooses the id. @throws WindowsError */
export async function createNetwork(id: Buffer, settings: string): Promise<void> {
  const { HcnCreateNetwork, HcnCloseNetwork } = computeNetwork;
  const network: OutPointer = [null];
  const record: OutPointer = [null];
  const { result } = await inBackground(HcnCreateNetwork, id, settings, network, record);
  answer('cannot create a network of HNS', 'HcnCreateNetwork', result, [null], record);
  // The network persists after its handle is closed.
  await inBackground(HcnCloseNetwork, network[0]);
}

/** @throws WindowsError `notFound` when there is no such network. */
export async function deleteNetwork(id: Buffer): Promise<void> {
  const record: OutPointer = [null];
  const { result } = await inBackground(computeNetwork.HcnDeleteNetwork, id, record);
  answer('cannot remove a network of HNS', 'HcnDeleteNetwork', result, [null], record);
}

/** Returns the ids of the endpoints that match `query`, as a JSON array. @throws WindowsError */
export async function enumerateEndpoints(query: string): Promise<string> {
  const { HcnEnumerateEndpoints } = computeNetwork;
  const endpoints: OutPointer = [null];
  const record: OutPointer = [null];
  const { result } = await inBackground(HcnEnumerateEndpoints, query, endpoints, record);
  const tried = 'cannot list the endpoints of a network of HNS';
  return answer(tried, 'HcnEnumerateEndpoints', result, endpoints, record);
}

export async function callFirstVersion(method: string, path: string): Promise<string> {
  const { HNSCall } = vmCompute;
  const response: OutPointer = [null];
  const { result } = await inBackground(HNSCall, method, path, '', response);
  return answer(`cannot ask HNS to ${method} ${path}`, 'HNSCall', result, response, [null]);
}

/** Frees `text` and `record`. @throws WindowsError when the call failed. */
function answer(
  tried: string,
  functionName: string,
  result: number,
  text: OutPointer,
  record: OutPointer,
): string {
  const found = [taken(text, tried), taken(record, tried)];
  if (result >= 0) return found[0] ?? '';
  const why = found[1] ? ` (HNS said: ${quoteText(found[1], { maxLength: 500 })})` : '';
  throw systemError(`${tried}${why}`, { functionName, errorNumber: result >>> 0 });
}

function taken([pointer]: OutPointer, tried: string): string {
  if (pointer === null) return '';
  try {
    const length = kernel32.lstrlenW(pointer);
    if (length > MAX_CHARACTERS) {
      const wanted = `wanted at most ${MAX_CHARACTERS}`;
      throw new WindowsError('unknown', `${tried}: found ${length} characters; ${wanted}`);
    }
    return length === 0 ? '' : (loadKoffi().decode(pointer, 'char16_t', length) as string);
  } finally {
    memory.CoTaskMemFree(pointer);
  }
}

export const systemHnsCalls = { enumerateNetworks, queryNetwork, callFirstVersion };

export type HnsCalls = typeof systemHnsCalls;
