import type { FailurePolicy, ServiceStartType } from './service-definition.js';
import { SETTING_LEVELS, type SettingName } from './service-settings.js';
import { parseFailureActions, parseOneText, parseServiceConfig } from './service-structures.js';
import { check, kernel32 } from '../win32/kernel32.js';
import { services } from '../win32/services.js';
import { systemError, WindowsError } from '../windows-error.js';

/** How a service is set up. What the system does not tell is `undefined`. */
export interface ServiceConfig {
  /** As it stands there, quotes and all. */
  readonly commandLine: string;
  readonly displayName: string;
  readonly description: string;
  readonly startType: ServiceStartType;
  readonly dependencies: readonly string[];
  /** Whose rights it has, such as `LocalSystem`. */
  readonly account: string;
  readonly failurePolicy: FailurePolicy | undefined;
  /** Whether a stop with an error counts as a failure, as a crash does. */
  readonly restartsAfterError: boolean | undefined;
  readonly preshutdownTimeoutMs: number | undefined;
}

const ERROR_INVALID_LEVEL = 124;
/** No configuration of a service is larger. */
const LARGEST = 8192;

const START_TYPES: ReadonlyMap<number, ServiceStartType> = new Map([
  [2, 'automatic'],
  [3, 'manual'],
  [4, 'disabled'],
]);

/** Reads how an open service is set up; the handle needs SERVICE_QUERY_CONFIG. */
export function readConfig(service: number, name: string): ServiceConfig {
  const { QueryServiceConfigW, addressOf } = services();
  const tried = `asked for the configuration of the service ${name}`;
  const memory = Buffer.alloc(LARGEST);
  check(
    QueryServiceConfigW(service, memory, memory.length, [0]) !== 0,
    'QueryServiceConfigW',
    tried,
  );
  const raw = parseServiceConfig(memory, addressOf);
  const startType = START_TYPES.get(raw.startType);
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
    description: description === undefined ? '' : parseOneText(description, addressOf),
    failurePolicy: actions && parseFailureActions(actions, addressOf),
    restartsAfterError: errorsCount === undefined ? undefined : errorsCount !== 0,
    preshutdownTimeoutMs: number('preshutdownTimeout'),
  };
}

function readSetting(service: number, setting: SettingName, tried: string): Buffer | undefined {
  const { QueryServiceConfig2W } = services();
  const memory = Buffer.alloc(LARGEST);
  const level = SETTING_LEVELS[setting];
  if (QueryServiceConfig2W(service, level, memory, memory.length, [0]) !== 0) return memory;
  const errorNumber = kernel32().GetLastError();
  if (errorNumber === ERROR_INVALID_LEVEL) return undefined;
  throw systemError(`${tried}: ${setting}`, { functionName: 'QueryServiceConfig2W', errorNumber });
}
