import type { ServiceDefinition, ServiceStartType } from './service-definition.js';
import { failureActions, oneNumber, oneText, type AddressOf } from './service-structures.js';
import { kernel32 } from '../win32/kernel32.js';
import { services } from '../win32/services.js';
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

/** The settings of a definition as the structures that the system takes, in the order in which they are set. */
export function settingsOf(
  definition: ServiceDefinition,
  addressOf: AddressOf,
): readonly (readonly [SettingName, Buffer])[] {
  const { startType } = definition;
  return [
    ['description', oneText(definition.description, addressOf)],
    ['failureActions', failureActions(definition.failurePolicy, addressOf)],
    ['failureActionsAlsoAfterErrors', oneNumber(1)],
    ['preshutdownTimeout', oneNumber(definition.preshutdownTimeoutMs)],
    // Only an automatic start can be delayed.
    ...(startType === 'automatic' || startType === 'delayed'
      ? [['delayedStart', oneNumber(startType === 'delayed' ? 1 : 0)] as const]
      : []),
  ];
}

/**
 * Sets what is beyond the basic configuration.
 *
 * @returns Settings that this system does not know: each came with some release of Windows.
 * @throws WindowsError for every other failure.
 */
export function writeSettings(
  service: number,
  definition: ServiceDefinition,
): readonly SettingName[] {
  const { ChangeServiceConfig2W, addressOf } = services();
  const ignored: SettingName[] = [];
  for (const [setting, memory] of settingsOf(definition, addressOf)) {
    if (ChangeServiceConfig2W(service, SETTING_LEVELS[setting], memory) !== 0) continue;
    const errorNumber = kernel32().GetLastError();
    if (errorNumber !== ERROR_INVALID_LEVEL) {
      const tried = `set ${setting} of the service ${definition.name}`;
      throw systemError(tried, { functionName: 'ChangeServiceConfig2W', errorNumber });
    }
    ignored.push(setting);
  }
  return ignored;
}

/** Sets whether an automatic start is delayed. @throws WindowsError, but not where the system knows no such setting. */
export function writeStart(service: number, name: string, startType: ServiceStartType): void {
  if (startType !== 'automatic' && startType !== 'delayed') return;
  const memory = oneNumber(startType === 'delayed' ? 1 : 0);
  const { ChangeServiceConfig2W } = services();
  if (ChangeServiceConfig2W(service, SETTING_LEVELS.delayedStart, memory) !== 0) return;
  const errorNumber = kernel32().GetLastError();
  if (errorNumber === ERROR_INVALID_LEVEL) return;
  const tried = `set delayedStart of the service ${name}`;
  throw systemError(tried, { functionName: 'ChangeServiceConfig2W', errorNumber });
}
