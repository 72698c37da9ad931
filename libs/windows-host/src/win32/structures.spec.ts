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
  // To the last field that is read.
  ['IP_ADAPTER_ADDRESSES', 224],
  ['IP_ADAPTER_UNICAST_ADDRESS', 64],
] as const)('%s has %i bytes', (name, sizeBytes) => {
  expect(structures[name].sizeBytes).toBe(sizeBytes);
});

it('covers every structure', () => {
  expect(Object.keys(structures)).toHaveLength(23);
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
