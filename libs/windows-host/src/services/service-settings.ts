import type { ServiceDefinition, ServiceStartType } from './service-definition.js';
import { failureActions, oneNumber, oneText } from './service-structures.js';
import { advapi32 } from '../win32/advapi32.js';
import { kernel32 } from '../win32/kernel32.js';
import { systemError } from '../windows-error.js';

/** What `writeSettings` needs: SERVICE_CHANGE_CONFIG, and SERVICE_START because there are restarts among the actions. */
export const CHANGE_RIGHTS = 0x2 | 0x10;

/** Levels of ChangeServiceConfig2W and QueryServiceConfig2W. */
export const SETTING_LEVELS = {
  description: 1,
  failureActions: 2,
  delayedStart: 3,
  failureActionsAlsoAfterErrors: 4,
  preshutdownTimeout: 7,
} as const;

/** The name of one setting. */
export type SettingName = keyof typeof SETTING_LEVELS;

const ERROR_INVALID_LEVEL = 124;
/** No configuration of a service is larger. */
export const LARGEST_CONFIG_BYTES = 8192;

/** The settings of a definition as the structures that the system takes, in the order in which they are set. */
export function settingsOf(
  definition: ServiceDefinition,
): readonly (readonly [SettingName, Buffer])[] {
  const { startType } = definition;
  return [
    ['description', oneText(definition.description)],
    ['failureActions', failureActions(definition.failurePolicy)],
    ['failureActionsAlsoAfterErrors', oneNumber(1)],
    ['preshutdownTimeout', oneNumber(definition.preshutdownTimeoutMs)],
    ...startSettings(startType),
  ];
}

/** Whether an automatic start is delayed; no other can be. */
export function startSettings(
  startType: ServiceStartType,
): readonly (readonly [SettingName, Buffer])[] {
  const canBeDelayed = startType === 'automatic' || startType === 'delayed';
  return canBeDelayed ? [['delayedStart', oneNumber(startType === 'delayed' ? 1 : 0)]] : [];
}

/**
 * Writes settings of an open service.
 *
 * @returns Settings that this system does not know: each came with some release of Windows.
 * @throws WindowsError for every other failure.
 */
export function writeSettings(
  service: number,
  name: string,
  settings: readonly (readonly [SettingName, Buffer])[],
): readonly SettingName[] {
  const { GetLastError } = kernel32;
  const ignored: SettingName[] = [];
  for (const [setting, memory] of settings) {
    if (advapi32.ChangeServiceConfig2W(service, SETTING_LEVELS[setting], memory) !== 0) continue;
    const errorNumber = GetLastError();
    if (errorNumber !== ERROR_INVALID_LEVEL) {
      const tried = `set ${setting} of the service ${name}`;
      throw systemError(tried, { functionName: 'ChangeServiceConfig2W', errorNumber });
    }
    ignored.push(setting);
  }
  return ignored;
}

/** Reads a setting of an open service; undefined where the system does not know it. @throws WindowsError */
export function readSetting(
  service: number,
  setting: SettingName,
  tried: string,
): Buffer | undefined {
  const { GetLastError } = kernel32;
  const memory = Buffer.alloc(LARGEST_CONFIG_BYTES);
  const level = SETTING_LEVELS[setting];
  if (advapi32.QueryServiceConfig2W(service, level, memory, memory.length, [0]) !== 0)
    return memory;
  const errorNumber = GetLastError();
  if (errorNumber === ERROR_INVALID_LEVEL) return undefined;
  throw systemError(`${tried}: ${setting}`, { functionName: 'QueryServiceConfig2W', errorNumber });
}
