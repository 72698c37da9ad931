import type { Structure } from './calls/system-library.js';
import * as structures from './structures.js';

// The sizes that the headers of Windows give for 64-bit programs.
it.each([
  ['SECURITY_ATTRIBUTES', 24],
  ['BY_HANDLE_FILE_INFORMATION', 52],
  ['OVERLAPPED', 32],
  ['SID_AND_ATTRIBUTES', 16],
  ['PROCESSENTRY32W', 568],
  ['STARTUPINFOEXW', 112],
  ['PROCESS_INFORMATION', 24],
  ['JOBOBJECT_BASIC_ACCOUNTING_INFORMATION', 48],
  ['JOBOBJECT_EXTENDED_LIMIT_INFORMATION', 144],
  ['JOBOBJECT_CPU_RATE_CONTROL_INFORMATION', 8],
  ['PROCESS_MEMORY_COUNTERS', 72],
  ['SERVICE_STATUS', 28],
  ['SERVICE_STATUS_PROCESS', 36],
  ['QUERY_SERVICE_CONFIGW', 64],
  ['SERVICE_FAILURE_ACTIONSW', 40],
  ['SC_ACTION', 8],
  ['ONE_TEXT', 8],
  ['SERVICE_TABLE_ENTRYW', 16],
  ['CERT_CONTEXT', 40],
  ['WINHTTP_PROXY_INFO', 24],
  ['MIB_IPFORWARD_ROW2', 104],
  // Sizes up to the last field that is read.
  ['IP_ADAPTER_ADDRESSES', 224],
  ['IP_ADAPTER_UNICAST_ADDRESS', 64],
  ['MIB_UNICASTIPADDRESS_ROW', 80],
  ['MIB_IPINTERFACE_ROW', 168],
  ['FWPM_SUBLAYER0', 72],
  ['FWPM_FILTER0', 200],
  ['FWPM_FILTER_CONDITION0', 40],
  ['FWPM_FILTER_ENUM_TEMPLATE0', 72],
  ['FWP_V4_ADDR_AND_MASK', 8],
] as const)('%s has %i bytes', (name, sizeBytes) => {
  expect(structures[name].sizeBytes).toBe(sizeBytes);
});

it('covers every structure', () => {
  expect(Object.keys(structures)).toHaveLength(30);
});

it('reads what it wrote, and nothing past the end of memory', () => {
  const { SC_ACTION } = structures;
  const memory = SC_ACTION.create({ Type: 1 }, SC_ACTION.sizeBytes);
  SC_ACTION.write(memory, { Delay: 7 });
  SC_ACTION.write(memory, { Type: 2, Delay: 9 }, 8);
  expect(SC_ACTION.read(memory)).toEqual({ Type: 1, Delay: 7 });
  expect(SC_ACTION.read(memory, 8)).toEqual({ Type: 2, Delay: 9 });
  for (const at of [-1, 9]) expect(() => SC_ACTION.read(memory, at)).toThrow(RangeError);
});

// Offsets of the fields that we write, according to the Windows headers for 64-bit programs.
it.each([
  ['FWPM_FILTER0', 'providerKey', 40],
  ['FWPM_FILTER0', 'layerKey', 64],
  ['FWPM_FILTER0', 'subLayerKey', 80],
  ['FWPM_FILTER0', 'weight', 104],
  ['FWPM_FILTER0', 'numFilterConditions', 112],
  ['FWPM_FILTER0', 'filterCondition', 120],
  ['FWPM_FILTER0', 'actionType', 128],
  ['FWPM_FILTER0', 'rawContext', 152],
  ['FWPM_FILTER0', 'reserved', 168],
  ['FWPM_FILTER0', 'filterId', 176],
  ['FWPM_FILTER_CONDITION0', 'matchType', 16],
  ['FWPM_FILTER_CONDITION0', 'valueType', 24],
  ['FWPM_FILTER_CONDITION0', 'value', 32],
  ['FWPM_SUBLAYER0', 'providerKey', 40],
  ['FWPM_SUBLAYER0', 'weight', 64],
  ['FWPM_FILTER_ENUM_TEMPLATE0', 'layerKey', 8],
  ['FWPM_FILTER_ENUM_TEMPLATE0', 'enumType', 24],
  ['FWPM_FILTER_ENUM_TEMPLATE0', 'actionMask', 56],
  ['MIB_IPINTERFACE_ROW', 'InterfaceLuid', 8],
  ['MIB_IPINTERFACE_ROW', 'InterfaceIndex', 16],
  ['MIB_IPINTERFACE_ROW', 'ForwardingEnabled', 41],
  ['MIB_IPINTERFACE_ROW', 'RouterDiscoveryBehavior', 52],
  ['MIB_IPINTERFACE_ROW', 'SitePrefixLength', 144],
  ['MIB_IPINTERFACE_ROW', 'Metric', 148],
  ['MIB_IPINTERFACE_ROW', 'ReachableTime', 160],
  ['MIB_UNICASTIPADDRESS_ROW', 'InterfaceLuid', 32],
  ['MIB_UNICASTIPADDRESS_ROW', 'InterfaceIndex', 40],
  ['MIB_UNICASTIPADDRESS_ROW', 'OnLinkPrefixLength', 60],
  ['MIB_UNICASTIPADDRESS_ROW', 'DadState', 64],
] as const)('%s has %s at %i', (name, field, offset) => {
  const type = structures[name] as unknown as Structure<Readonly<Record<string, unknown>>>;
  const isGuid = /^(?:layer|subLayer)Key$/.test(field);
  const value = isGuid ? Uint8Array.from({ length: 16 }, () => 0xff) : 0xff;
  const memory = type.create({ [field]: field === 'providerKey' ? 0xffn : value });
  expect([memory.length, memory.indexOf(0xff)]).toEqual([type.sizeBytes, offset]);
});
