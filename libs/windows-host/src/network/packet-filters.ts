import { checkStatus, OwnedHandle } from '../win32/calls/call.js';
import { loadKoffi, type Structure } from '../win32/calls/system-library.js';
import { filteringPlatform } from '../win32/filtering-platform.js';
import { kernel32 } from '../win32/kernel32.js';
import {
  FWP_V4_ADDR_AND_MASK,
  FWPM_FILTER0,
  FWPM_FILTER_CONDITION0,
  FWPM_FILTER_ENUM_TEMPLATE0,
  FWPM_SUBLAYER0,
} from '../win32/structures.js';
import type {
  FilterField,
  FilterGroup,
  FilterLabel,
  FilterLayer,
  LabelledFilter,
} from './container-filters.js';
import { guidBytes } from './hns-networks.js';

/** fwpmu.h: FWPM_LAYER_IPFORWARD_V4 and so on. */
const LAYERS: Readonly<Record<FilterLayer, Buffer>> = {
  forward: guid('a82acc24-4ee1-4ee1-b465-fd1d25cb10a4'),
  inbound: guid('c86fd1bf-21cd-497e-a0bb-17425c885c58'),
  outbound: guid('1e5c9fae-8a84-4135-a331-950b54229ecd'),
  forward6: guid('7b964818-19c7-493a-b71f-832c3684d28c'),
  inbound6: guid('f52032cb-991c-46e7-971d-2601459a91ca'),
  outbound6: guid('a3b3ab6b-3564-488c-9117-f34e82142763'),
};
/** fwpmu.h: FWPM_CONDITION_SOURCE_INTERFACE_INDEX and so on. */
const FIELDS: Readonly<Record<FilterField, Buffer>> = {
  arrivesBy: guid('2311334d-c92d-45bf-9496-edf447820e2d'),
  leavesBy: guid('35cf6522-4139-45ee-a0d5-67b80949d879'),
  source: guid('ae96897e-2e94-4bc9-b313-b27ee80e574d'),
  destination: guid('2d79133b-b390-45c6-8699-acaceaafed33'),
  interface: guid('667fd755-d695-434a-8af5-d3835a1259bc'),
  local: guid('d9ee00de-c1ef-4617-bfe3-ffd8f5a08957'),
  remote: guid('b235ae9a-1d64-49b8-a44c-5ff3d9095045'),
};
/**
 * GUIDs of our sublayers. A sublayer can drop a packet even if the other two permit it. A filter belongs to us if it is in
 * one of these sublayers.
 */
const GROUPS: Readonly<Record<FilterGroup, Buffer>> = {
  ingress: guid('6f3a7c52-0f0e-4f5b-9a0c-5d1f6a8e2b42'),
  egress: guid('6f3a7c52-0f0e-4f5b-9a0c-5d1f6a8e2b43'),
  rule: guid('6f3a7c52-0f0e-4f5b-9a0c-5d1f6a8e2b44'),
};
/** The highest weight, so that no other sublayer can permit a packet that our sublayers drop. */
const SUBLAYER_WEIGHT = 0xffff;
/** FWP_DATA_TYPE. */
const [UINT8, UINT32, V4_ADDR_MASK] = [1, 3, 256] as const;
/** Weights are 0 to 15. */
const [WEIGHT_OF_PERMIT, WEIGHT_OF_BLOCK] = [15, 0] as const;
/** FWP_ACTION_TYPE. */
const [BLOCK, PERMIT] = [0x1001, 0x1002] as const;
const MATCH_EQUAL = 0;
const ENUM_OVERLAPPING = 1;
const EACH_ACTION = 0xffffffff;
const AUTHENTICATION_DEFAULT = 0xffffffff;
const [FILTER_NOT_FOUND, SUBLAYER_NOT_FOUND] = [0x80320003, 0x80320007] as const;
const [ALREADY_EXISTS, IN_USE] = [0x80320009, 0x8032000a] as const;
/** Limit per layer, including filters of other programs. Filters beyond the limit count as missing. */
const MAX_FILTERS = 4096;
const MAX_TEXT = 2048;

/** Filters to add and to remove in one transaction. */
export interface FilterChanges {
  readonly add: readonly LabelledFilter[];
  /** Keys of filters. */
  readonly remove: readonly string[];
}

/** Lists our filters, which survive this process but not a restart of the system. @throws WindowsError */
export function readFilters(): readonly FilterLabel[] {
  using engine = openEngine();
  const { value } = engine;
  return Object.values(LAYERS).flatMap((layer) => filtersIn(value, layer));
}

/** Applies all changes or none. Ignores filters that already exist or are already gone. @throws WindowsError */
export function changeFilters({ add, remove }: FilterChanges): void {
  const tried = 'cannot change the filters of the network of containers';
  const platform = filteringPlatform;
  using engine = openEngine();
  const { value } = engine;
  if (add.length > 0) addGroups(value, tried);
  checkStatus(tried, 'FwpmTransactionBegin0', platform.FwpmTransactionBegin0(value, 0));
  try {
    for (const key of remove) {
      const status = platform.FwpmFilterDeleteByKey0(value, Buffer.from(key, 'hex'));
      checkStatus(tried, 'FwpmFilterDeleteByKey0', status, FILTER_NOT_FOUND);
    }
    for (const filter of add) {
      const memory = filterMemory(filter, addressOf);
      const status = platform.FwpmFilterAdd0(value, memory, null, null);
      checkStatus(tried, 'FwpmFilterAdd0', status, ALREADY_EXISTS);
    }
  } catch (error) {
    platform.FwpmTransactionAbort0(value);
    throw error;
  }
  checkStatus(tried, 'FwpmTransactionCommit0', platform.FwpmTransactionCommit0(value));
  if (remove.length > 0) removeGroups(value, tried);
}

/** Creates one buffer with an FWPM_FILTER0 and everything that it points to. */
export function filterMemory(
  { key, name, description, layer, group, isPermit, conditions }: LabelledFilter,
  addressIn: (memory: Buffer) => bigint,
): Buffer {
  const masksAt = FWPM_FILTER_CONDITION0.sizeBytes * conditions.length;
  const tailBytes = masksAt + FWP_V4_ADDR_AND_MASK.sizeBytes * conditions.length;
  return described(FWPM_FILTER0, { name, description, tailBytes, addressIn }, (memory, tailAt) => {
    const base = addressIn(memory);
    for (const [index, [field, value]] of conditions.entries()) {
      const at = tailAt + FWPM_FILTER_CONDITION0.sizeBytes * index;
      const maskAt = tailAt + masksAt + FWP_V4_ADDR_AND_MASK.sizeBytes * index;
      if (typeof value !== 'number')
        FWP_V4_ADDR_AND_MASK.write(memory, { addr: value.net, mask: value.mask }, maskAt);
      const condition =
        typeof value === 'number'
          ? { valueType: UINT32, value }
          : { valueType: V4_ADDR_MASK, value: base + BigInt(maskAt) };
      const fieldKey = FIELDS[field];
      FWPM_FILTER_CONDITION0.write(memory, { fieldKey, matchType: MATCH_EQUAL, ...condition }, at);
    }
    return {
      filterKey: Buffer.from(key, 'hex'),
      layerKey: LAYERS[layer],
      subLayerKey: GROUPS[group],
      weightType: UINT8,
      weight: isPermit ? WEIGHT_OF_PERMIT : WEIGHT_OF_BLOCK,
      numFilterConditions: conditions.length,
      filterCondition: base + BigInt(tailAt),
      actionType: isPermit ? PERMIT : BLOCK,
    };
  });
}

interface Description {
  readonly name: string;
  readonly description: string;
  readonly tailBytes?: number;
  readonly addressIn: (memory: Buffer) => bigint;
}

/** Memory layout: the structure, a tail, then both texts. */
function described<Fields extends { readonly name: bigint | null }>(
  type: Structure<Fields>,
  { name, description, tailBytes = 0, addressIn }: Description,
  fieldsOf: (memory: Buffer, tailAt: number) => Partial<Omit<Fields, 'name' | 'description'>>,
): Buffer {
  const texts = [name, description].map((text) => Buffer.from(`${text}\0`, 'utf16le'));
  const textsAt = type.sizeBytes + tailBytes;
  const memory = type.create({}, tailBytes + Buffer.concat(texts).length);
  Buffer.concat(texts).copy(memory, textsAt);
  const base = addressIn(memory);
  const nameAt = base + BigInt(textsAt);
  type.write(memory, {
    ...(fieldsOf(memory, type.sizeBytes) as Partial<Fields>),
    name: nameAt,
    description: nameAt + BigInt(texts[0]?.length ?? 0),
  });
  return memory;
}

function addGroups(engine: number, tried: string): void {
  const about = { description: 'the network of containers', addressIn: addressOf };
  for (const [group, subLayerKey] of Object.entries(GROUPS)) {
    const subLayer = described(FWPM_SUBLAYER0, { ...about, name: `wins ${group}` }, () => ({
      subLayerKey,
      weight: SUBLAYER_WEIGHT,
    }));
    const status = filteringPlatform.FwpmSubLayerAdd0(engine, subLayer, null);
    checkStatus(tried, 'FwpmSubLayerAdd0', status, ALREADY_EXISTS);
  }
}

/** Keeps sublayers that still have filters. */
function removeGroups(engine: number, tried: string): void {
  for (const key of Object.values(GROUPS)) {
    const status = filteringPlatform.FwpmSubLayerDeleteByKey0(engine, key);
    checkStatus(tried, 'FwpmSubLayerDeleteByKey0', status, SUBLAYER_NOT_FOUND, IN_USE);
  }
}

function filtersIn(engine: number, layerKey: Buffer): readonly FilterLabel[] {
  const tried = 'cannot list the filters of the network of containers';
  const { FwpmFilterCreateEnumHandle0, FwpmFilterDestroyEnumHandle0, FwpmFilterEnum0 } =
    filteringPlatform;
  const template = FWPM_FILTER_ENUM_TEMPLATE0.create({
    layerKey,
    enumType: ENUM_OVERLAPPING,
    actionMask: EACH_ACTION,
  });
  const enumeration: [number] = [0];
  const opened = FwpmFilterCreateEnumHandle0(engine, template, enumeration);
  checkStatus(tried, 'FwpmFilterCreateEnumHandle0', opened);
  try {
    const entries: [bigint | null] = [null];
    const count: [number] = [0];
    const status = FwpmFilterEnum0(engine, enumeration[0], MAX_FILTERS, entries, count);
    checkStatus(tried, 'FwpmFilterEnum0', status);
    const [start] = entries;
    if (start === null) return [];
    try {
      return Array.from({ length: count[0] }, (_, index) => labelAt(start, index)).flat();
    } finally {
      freeMemory(start);
    }
  } finally {
    FwpmFilterDestroyEnumHandle0(engine, enumeration[0]);
  }
}

/** Empty for a filter of another program. */
function labelAt(entries: bigint, index: number): readonly FilterLabel[] {
  const at = loadKoffi().decode(entries, index * 8, 'void *') as bigint;
  const { filterKey, subLayerKey, name, description } = FWPM_FILTER0.read(at);
  if (!Object.values(GROUPS).some((group) => group.equals(subLayerKey))) return [];
  const key = Buffer.from(filterKey).toString('hex');
  return [{ key, name: textAt(name), description: textAt(description) }];
}

function textAt(pointer: bigint | null): string {
  const length = pointer === null ? 0 : kernel32.lstrlenW(pointer);
  if (pointer === null || length === 0 || length > MAX_TEXT) return '';
  return loadKoffi().decode(pointer, 'char16_t', length) as string;
}

/** FwpmFreeMemory0 takes the address of the pointer. */
function freeMemory(pointer: bigint): void {
  const memory = Buffer.alloc(8);
  memory.writeBigUInt64LE(pointer);
  filteringPlatform.FwpmFreeMemory0(memory);
}

function openEngine(): OwnedHandle {
  const { FwpmEngineOpen0, FwpmEngineClose0 } = filteringPlatform;
  const engine: [number] = [0];
  const status = FwpmEngineOpen0(null, AUTHENTICATION_DEFAULT, null, null, engine);
  checkStatus('cannot open the filtering engine', 'FwpmEngineOpen0', status);
  return new OwnedHandle(engine[0], (handle) => void FwpmEngineClose0(handle));
}

function addressOf(memory: Buffer): bigint {
  return loadKoffi().address(memory);
}

function guid(text: string): Buffer {
  const bytes = guidBytes(text);
  if (bytes === undefined) throw new RangeError(`no GUID: ${text}`);
  return bytes;
}
