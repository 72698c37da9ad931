import { RegistryKey } from '../registry/registry.js';
import { serviceControlManager } from '../services/service-control-manager.js';
import type { ServiceState } from '../services/service-wait.js';
import { unlessFails } from '../windows-error.js';

/** Sources of the settings that show whether the firewall of a host filters anything. */
export interface FirewallSwitches {
  /** Undefined when there is no firewall service. */
  readonly serviceState: () => ServiceState | undefined;
  /** `EnableFirewall` of a registry key; undefined when it is not set. */
  readonly enabled: (path: string) => boolean | undefined;
}

const SERVICE = 'MpsSvc';
const LOCAL = 'SYSTEM\\CurrentControlSet\\Services\\SharedAccess\\Parameters\\FirewallPolicy';
const POLICY = 'SOFTWARE\\Policies\\Microsoft\\WindowsFirewall';
/** The profiles, by their names in the registry. In a policy the private profile may have either of its two names. */
const PROFILES = [['DomainProfile'], ['PublicProfile'], ['StandardProfile', 'PrivateProfile']];

/**
 * Returns why the firewall of this host filters nothing: its service does not run, or every profile is off. Returns
 * undefined if the firewall may filter traffic, or if the settings cannot be read.
 *
 * A group policy ([MS-GPFAS] 2.2.2, below `SOFTWARE\Policies`) and device management (`Mdm`) take precedence over the
 * host's own setting. If group policy and device management disagree on a profile, the profile counts as on.
 */
export function firewallOffReason(switches: FirewallSwitches = systemSwitches): string | undefined {
  try {
    const state = switches.serviceState();
    if (state === undefined) return `this host has no firewall service (${SERVICE})`;
    if (state === 'stopped') return `the firewall service (${SERVICE}) is stopped`;
    const isOff = PROFILES.every((names) => isProfileOff(names, switches));
    return isOff ? 'the firewall is off in every profile' : undefined;
  } catch {
    return undefined;
  }
}

function isProfileOff(names: readonly string[], { enabled }: FirewallSwitches): boolean {
  const policies = [POLICY, `${LOCAL}\\Mdm`]
    .flatMap((root) => names.map((name) => enabled(`${root}\\${name}`)))
    .filter((value) => value !== undefined);
  if (policies.length > 0) return policies.every((isOn) => !isOn);
  return enabled(`${LOCAL}\\${names[0] ?? ''}`) === false;
}

const systemSwitches: FirewallSwitches = {
  serviceState: () => unlessFails(() => serviceControlManager().status(SERVICE).state, 'notFound'),
  enabled: (path) => {
    using key = RegistryKey.open(path);
    const value = key?.value('EnableFirewall');
    return value === undefined ? undefined : !(value.type === 'number' && value.value === 0);
  },
};
