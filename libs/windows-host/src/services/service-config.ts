import type { FailurePolicy, ServiceStartType } from './service-definition.js';
import { LARGEST_CONFIG_BYTES, readSetting, type SettingName } from './service-settings.js';
import { parseFailureActions, parseOneText, parseServiceConfig } from './service-structures.js';
import { advapi32 } from '../win32/advapi32.js';
import { call } from '../win32/calls/call.js';
import { WindowsError } from '../windows-error.js';

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

const START_TYPES: ReadonlyMap<number, ServiceStartType> = new Map([
  [2, 'automatic'],
  [3, 'manual'],
  [4, 'disabled'],
]);

/** Reads how an open service is set up; the handle needs SERVICE_QUERY_CONFIG. */
export function readConfig(service: number, name: string): ServiceConfig {
  const tried = `asked for the configuration of the service ${name}`;
  const memory = Buffer.alloc(LARGEST_CONFIG_BYTES);
  call(tried, advapi32.QueryServiceConfigW, service, memory, memory.length, [0]);
  const raw = parseServiceConfig(memory);
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
    description: description === undefined ? '' : parseOneText(description),
    failurePolicy: actions && parseFailureActions(actions),
    restartsAfterError: errorsCount === undefined ? undefined : errorsCount !== 0,
    preshutdownTimeoutMs: number('preshutdownTimeout'),
  };
}
