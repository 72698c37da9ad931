/** Structures of the service control manager. Each structure is followed, in the same buffer, by the data that it points to. */
import { advapi32 } from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import { WindowsError, systemError } from '../windows-error.js';
import { kernel32 } from '../win32/kernel32.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import * as structures from '../win32/structures.js';

/** Configuration of a service. Settings that the system does not report are undefined. */
export interface ServiceConfig {
  /** Command line as the system stores it, with its quotes. */
  readonly commandLine: string;
  readonly displayName: string;
  readonly description: string;
  readonly startType: ServiceStartType;
  readonly dependencies: readonly string[];
  /** Account under which it runs, such as `LocalSystem`. */
  readonly account: string;
  readonly failurePolicy: FailurePolicy | undefined;
  /** True when a stop with an error counts as a failure, as a crash does. */
  readonly restartsAfterError: boolean | undefined;
  readonly preshutdownTimeoutMs: number | undefined;
}

/** In the order of their numbers, from SERVICE_AUTO_START. */
const START_TYPES: readonly ServiceStartType[] = ['automatic', 'manual', 'disabled'];
const FIRST_START_TYPE = 2;

/** `service` is a handle with SERVICE_QUERY_CONFIG access. */
export function readConfig(service: number, name: string): ServiceConfig {
  const tried = `cannot query the configuration of the service ${name}`;
  const memory = Buffer.alloc(LARGEST_CONFIG_BYTES);
  call(tried, advapi32.QueryServiceConfigW, service, memory, memory.length, [0]);
  const raw = parseServiceConfig(memory);
  const startType = START_TYPES[raw.startType - FIRST_START_TYPE];
  if (startType === undefined)
    throw new WindowsError('unknown', `${tried}: it has the start type ${raw.startType}`);
  const read = (setting: SettingName): Buffer | undefined => readSetting(service, setting, tried);
  const number = (setting: SettingName): number | undefined => read(setting)?.readUInt32LE();
  const description = read('description');
  const actions = read('failureActions');
  const errorsCount = number('failureActionsAlsoAfterErrors');
  const isDelayed = startType === 'automatic' && number('delayedStart') === 1;
  return {
    ...raw,
    startType: isDelayed ? 'delayed' : startType,
    description: description === undefined ? '' : parseOneText(description),
    failurePolicy: actions && parseFailureActions(actions),
    restartsAfterError: errorsCount === undefined ? undefined : errorsCount !== 0,
    preshutdownTimeoutMs: number('preshutdownTimeout'),
  };
}

/** Start of a service: with the system, about two minutes later, on request, or never. */
export type ServiceStartType = 'automatic' | 'delayed' | 'manual' | 'disabled';

/** All settings with which a service is registered. */
export interface ServiceDefinition {
  /** Name for programs; at most 256 characters, no slashes. */
  readonly name: string;
  /** Name for people. */
  readonly displayName: string;
  readonly description: string;
  /** The program, by its absolute path, and its arguments. */
  readonly command: readonly string[];
  /** Whole command line, as the system stores it; replaces `command`. */
  readonly commandLine?: string | undefined;
  readonly startType: ServiceStartType;
  /** Names of services that must run before this one starts. */
  readonly dependencies: readonly string[];
  readonly failurePolicy: FailurePolicy;
  /** Milliseconds for which a shutdown of the system waits for the service. */
  readonly preshutdownTimeoutMs: number;
}

/** Reaction to a crash of the service, or to a stop with an error. */
export interface FailurePolicy {
  /** Delays before the first, second, … restart, in milliseconds; at least one. The last delay is repeated forever. */
  readonly restartDelaysMs: readonly number[];
  /** After this many seconds without a failure, the next failure counts as the first again. */
  readonly resetAfterSeconds: number;
}

/** Rights that `writeSettings` needs: SERVICE_CHANGE_CONFIG, and SERVICE_START because the failure actions include restarts. */
export const CHANGE_RIGHTS = 0x2 | 0x10;

/** Levels of ChangeServiceConfig2W and QueryServiceConfig2W. */
export const SETTING_LEVELS = {
  description: 1,
  failureActions: 2,
  delayedStart: 3,
  failureActionsAlsoAfterErrors: 4,
  preshutdownTimeout: 7,
} as const;

type SettingName = keyof typeof SETTING_LEVELS;
/** Settings to write, in this order, each with its structure. */
type Settings = readonly (readonly [SettingName, Buffer])[];

const ERROR_INVALID_LEVEL = 124;
const LARGEST_CONFIG_BYTES = 8192;

export function settingsOf(definition: ServiceDefinition): Settings {
  return [
    ['description', oneText(definition.description)],
    ['failureActions', failureActions(definition.failurePolicy)],
    ['failureActionsAlsoAfterErrors', oneNumber(1)],
    ['preshutdownTimeout', oneNumber(definition.preshutdownTimeoutMs)],
    ...startSettings(definition.startType),
  ];
}

/** Only automatic starts have a setting for the delay. */
export function startSettings(startType: ServiceStartType): Settings {
  const canBeDelayed = startType === 'automatic' || startType === 'delayed';
  return canBeDelayed ? [['delayedStart', oneNumber(startType === 'delayed' ? 1 : 0)]] : [];
}

/**
 * Writes the settings. Returns the settings that this release of Windows does not support.
 *
 * @throws WindowsError for every other failure.
 */
export function writeSettings(service: number, name: string, settings: Settings) {
  const { GetLastError } = kernel32;
  const ignored: SettingName[] = [];
  for (const [setting, memory] of settings) {
    if (advapi32.ChangeServiceConfig2W(service, SETTING_LEVELS[setting], memory) !== 0) continue;
    const errorNumber = GetLastError();
    if (errorNumber !== ERROR_INVALID_LEVEL) {
      const tried = `cannot set ${setting} of the service ${name}`;
      throw systemError(tried, { functionName: 'ChangeServiceConfig2W', errorNumber });
    }
    ignored.push(setting);
  }
  return ignored;
}

/** Undefined when the system does not know the setting. */
function readSetting(service: number, setting: SettingName, tried: string): Buffer | undefined {
  const { GetLastError } = kernel32;
  const memory = Buffer.alloc(LARGEST_CONFIG_BYTES);
  const level = SETTING_LEVELS[setting];
  if (advapi32.QueryServiceConfig2W(service, level, memory, memory.length, [0]) !== 0)
    return memory;
  const errorNumber = GetLastError();
  if (errorNumber === ERROR_INVALID_LEVEL) return undefined;
  throw systemError(`${tried}: ${setting}`, { functionName: 'QueryServiceConfig2W', errorNumber });
}

const SC_ACTION_RESTART = 1;

/** Returns a SERVICE_FAILURE_ACTIONSW and its actions. The system repeats the last action, so restarts never end. */
export function failureActions({ restartDelaysMs, resetAfterSeconds }: FailurePolicy): Buffer {
  const { SC_ACTION, SERVICE_FAILURE_ACTIONSW: head } = structures;
  const actions = restartDelaysMs.map((Delay) =>
    SC_ACTION.create({ Type: SC_ACTION_RESTART, Delay }),
  );
  const fields = { dwResetPeriod: resetAfterSeconds, cActions: actions.length };
  const memory = Buffer.concat([head.create(fields), ...actions]);
  head.write(memory, { lpsaActions: addressOf(memory) + BigInt(head.sizeBytes) });
  return memory;
}
/** Creates a structure whose only member is `value`: a BOOL or a time. */
export function oneNumber(value: number): Buffer {
  const memory = Buffer.alloc(4);
  memory.writeUInt32LE(value);
  return memory;
}

/** Creates a structure whose only member points to `text`, such as SERVICE_DESCRIPTIONW. */
export function oneText(text: string): Buffer {
  const { ONE_TEXT } = structures;
  const memory = Buffer.concat([ONE_TEXT.create({}), Buffer.from(`${text}\0`, 'utf16le')]);
  ONE_TEXT.write(memory, { text: addressOf(memory) + BigInt(ONE_TEXT.sizeBytes) });
  return memory;
}

/** Encodes a list of strings in UTF-16. Each string ends with a NUL, and two more NULs end the list. */
export function multiString(texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.map((text) => `${text}\0`).join('')}\0\0`, 'utf16le');
}

/** Never reads outside of `memory`, whatever its pointers contain. */
export function parseServiceConfig(memory: Buffer) {
  const config = structures.QUERY_SERVICE_CONFIGW.read(memory);
  return {
    startType: config.dwStartType,
    commandLine: textAt(memory, offsetOf(memory, config.lpBinaryPathName)),
    dependencies: textsAt(memory, offsetOf(memory, config.lpDependencies)),
    account: textAt(memory, offsetOf(memory, config.lpServiceStartName)),
    displayName: textAt(memory, offsetOf(memory, config.lpDisplayName)),
  };
}

export function parseOneText(memory: Buffer): string {
  return textAt(memory, offsetOf(memory, structures.ONE_TEXT.read(memory).text));
}

export function parseFailureActions(memory: Buffer): FailurePolicy {
  const { SC_ACTION, SERVICE_FAILURE_ACTIONSW } = structures;
  const { dwResetPeriod, cActions, lpsaActions } = SERVICE_FAILURE_ACTIONSW.read(memory);
  const restartDelaysMs: number[] = [];
  const first = offsetOf(memory, lpsaActions);
  for (let index = 0; index < cActions; index++) {
    const at = first + index * SC_ACTION.sizeBytes;
    if (at < 0 || at + SC_ACTION.sizeBytes > memory.length) break;
    const { Type, Delay } = SC_ACTION.read(memory, at);
    if (Type !== SC_ACTION_RESTART) break;
    restartDelaysMs.push(Delay);
  }
  return { restartDelaysMs, resetAfterSeconds: dwResetPeriod };
}

function textsAt(memory: Buffer, offset: number): readonly string[] {
  const texts: string[] = [];
  for (let at = offset; ;) {
    const text = textAt(memory, at);
    if (text === '') return texts;
    texts.push(text);
    at += (text.length + 1) * 2;
  }
}

function textAt(memory: Buffer, offset: number): string {
  if (offset < 0 || offset >= memory.length) return '';
  const text = memory.subarray(offset).toString('utf16le');
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

function addressOf(memory: Buffer): bigint {
  return loadKoffi().address(memory);
}

function offsetOf(memory: Buffer, pointer: bigint | null): number {
  return pointer === null ? -1 : Number(pointer - addressOf(memory));
}
