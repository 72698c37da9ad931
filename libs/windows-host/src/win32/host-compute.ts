import { quoteText } from '@wins/wins-program';
import { systemError, WindowsError } from '../windows-error.js';
import { inBackground, type BackgroundCall } from './calls/background-call.js';
import { lazily, loadSystemLibrary } from './calls/system-library.js';

type OutPointer = [bigint | number | null];

const FEATURE = 'the Host Networking Service (Windows feature Containers)';
// A network is described by some kilobytes.
const MAX_CHARACTERS = 16 * 1024 * 1024;

const memory = lazily(() => {
  const ole32 = loadSystemLibrary('ole32.dll', FEATURE);
  const kernel32 = loadSystemLibrary('kernel32.dll');
  return {
    koffi: ole32.koffi,
    // https://learn.microsoft.com/windows/win32/api/combaseapi/nf-combaseapi-cotaskmemfree
    CoTaskMemFree: ole32.bind<(memory: bigint | number) => void>(
      'void __stdcall CoTaskMemFree(void *memory)',
    ),
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-lstrlenw
    lstrlenW: kernel32.bind<(text: bigint | number) => number>(
      'int __stdcall lstrlenW(void *text)',
    ),
  };
});

const computeNetwork = lazily(() => {
  const { bind } = loadSystemLibrary('computenetwork.dll', FEATURE);
  return {
    // https://learn.microsoft.com/virtualization/api/hcn/reference/hcnenumeratenetworks
    HcnEnumerateNetworks: bind<BackgroundCall<[string, OutPointer, OutPointer]>>(
      'int32_t __stdcall HcnEnumerateNetworks(str16 query, _Out_ void **networks, _Out_ void **errorRecord)',
    ),
    // https://learn.microsoft.com/virtualization/api/hcn/reference/hcnopennetwork
    HcnOpenNetwork: bind<BackgroundCall<[Buffer, OutPointer, OutPointer]>>(
      'int32_t __stdcall HcnOpenNetwork(void *id, _Out_ void **network, _Out_ void **errorRecord)',
    ),
    // https://learn.microsoft.com/virtualization/api/hcn/reference/hcnquerynetworkproperties
    HcnQueryNetworkProperties: bind<
      BackgroundCall<[bigint | number, string, OutPointer, OutPointer]>
    >(
      'int32_t __stdcall HcnQueryNetworkProperties(void *network, str16 query, _Out_ void **properties, _Out_ void **errorRecord)',
    ),
    // https://learn.microsoft.com/virtualization/api/hcn/reference/hcnclosenetwork
    HcnCloseNetwork: bind<BackgroundCall<[bigint | number]>>(
      'int32_t __stdcall HcnCloseNetwork(void *network)',
    ),
  };
});

const vmCompute = lazily(() => {
  const { bind } = loadSystemLibrary('vmcompute.dll', FEATURE);
  return {
    // Not documented; the first version of the service's interface, on which github.com/microsoft/hcsshim is built.
    HNSCall: bind<BackgroundCall<[string, string, string, OutPointer]>>(
      'int32_t __stdcall HNSCall(str16 method, str16 path, str16 request, _Out_ void **response)',
    ),
  };
});

/** The ids of all networks, as a JSON list. */
export async function enumerateNetworks(query: string): Promise<string> {
  const { HcnEnumerateNetworks } = computeNetwork();
  const networks: OutPointer = [null];
  const record: OutPointer = [null];
  const { result } = await inBackground(HcnEnumerateNetworks, query, networks, record);
  return answer('listed the networks of HNS', 'HcnEnumerateNetworks', result, networks, record);
}

/** What one network is, as a JSON object. The id is a GUID of 16 bytes. */
export async function queryNetwork(id: Buffer, query: string): Promise<string> {
  const { HcnOpenNetwork, HcnQueryNetworkProperties, HcnCloseNetwork } = computeNetwork();
  const network: OutPointer = [null];
  const openRecord: OutPointer = [null];
  const { result: opened } = await inBackground(HcnOpenNetwork, id, network, openRecord);
  answer('opened a network of HNS', 'HcnOpenNetwork', opened, [null], openRecord);
  const handle = network[0] ?? 0;
  try {
    const found: OutPointer = [null];
    const record: OutPointer = [null];
    const { result } = await inBackground(HcnQueryNetworkProperties, handle, query, found, record);
    return answer('read a network of HNS', 'HcnQueryNetworkProperties', result, found, record);
  } finally {
    await inBackground(HcnCloseNetwork, handle);
  }
}

/** A request of the first version, as a JSON object. */
export async function callFirstVersion(method: string, path: string): Promise<string> {
  const { HNSCall } = vmCompute();
  const response: OutPointer = [null];
  const { result } = await inBackground(HNSCall, method, path, '', response);
  return answer(`asked HNS to ${method} ${path}`, 'HNSCall', result, response, [null]);
}

/** Takes and frees both texts, and throws when the call failed. */
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
  if (pointer === null || pointer === 0 || pointer === 0n) return '';
  const { koffi, lstrlenW, CoTaskMemFree } = memory();
  try {
    const length = lstrlenW(pointer);
    if (length > MAX_CHARACTERS) {
      const wanted = `wanted at most ${MAX_CHARACTERS}`;
      throw new WindowsError('unknown', `${tried}: found ${length} characters; ${wanted}`);
    }
    return length === 0 ? '' : (koffi.decode(pointer, 'char16_t', length) as string);
  } finally {
    CoTaskMemFree(pointer);
  }
}
