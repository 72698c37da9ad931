import { quoteText } from '@wins/wins-program';
import { RegistryKey } from '../registry/registry.js';
import { refused } from './node-access.js';

/** The key in which the service control manager keeps a service. @throws WindowsError `invalidArgument` for a name that is no name. */
export function serviceKey(service: string): string {
  if (!/^[\w.-]{1,256}$/.test(service)) throw refused('looked for a service', quoteText(service));
  return `SYSTEM\\CurrentControlSet\\Services\\${service}`;
}

/** Whether a service was removed and waits until no one holds it open. */
export function isBeingRemoved(service: string): boolean {
  using key = RegistryKey.open(serviceKey(service));
  const flag = key?.value('DeleteFlag');
  return flag?.type === 'number' && flag.value !== 0;
}
