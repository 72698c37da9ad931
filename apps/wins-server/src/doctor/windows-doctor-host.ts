import {
  firewallRules,
  pipeAccess,
  serviceControlManager,
  whoMayWrite,
  WindowsError,
} from '@wins/windows-host';
import { resolvePipePath } from '@wins/pipe-transport';
import { SERVICE_NAME, grantsTheSame, parseSecurityDescriptor } from '@wins/base';
import { isServed, type Check, type DoctorHost, type PipeAccess } from '../kernel/doctor-host.js';
import { ok, problem, warning, type Reported } from '../kernel/conditions/condition.js';
import { serviceLogFolder } from '../kernel/log/windows-service-log.js';
import { serviceFinding } from './service-finding.js';
import { localDoctorHost, type LocalDoctorHostOptions } from './local-doctor-host.js';

/** Default access list of pipes, in the form that the system reports. The administrators' pipe always has it. */
const ADMINISTRATORS_AND_SYSTEM = 'D:P(A;;FA;;;BA)(A;;FA;;;SY)';

export function windowsDoctorHost(options: LocalDoctorHostOptions): DoctorHost & AsyncDisposable {
  return {
    ...localDoctorHost(options),
    // oxlint-disable-next-line typescript/require-await -- turns a throw into a rejection
    pipeAccess: async (name, wanted) =>
      judgeAccess(pipeAccess(resolvePipePath(name).address), wanted),
    systemChecks: [checkService, checkFirewall],
    logLocation: serviceLogFolder(),
  };
}

/** Accepts only `wanted` or, if it is undefined, the default access list, because any client of the pipe can control the host. */
function judgeAccess(sddl: string, wanted: string | undefined): PipeAccess {
  const same = grantsTheSame(
    parseSecurityDescriptor(sddl),
    parseSecurityDescriptor(wanted ?? ADMINISTRATORS_AND_SYSTEM),
  );
  if (same) return { found: sddl, faults: [] };
  if (wanted !== undefined)
    return { found: sddl, faults: [`pipeAccess in the config is ${wanted}`] };
  const others = whoMayWrite(sddl);
  const faults = others.map((who) => `${who} can use it, but is neither SYSTEM nor Administrators`);
  const changed = `wanted ${ADMINISTRATORS_AND_SYSTEM}`;
  return { found: sddl, faults: others.length === 0 ? [changed] : faults };
}

const checkService: Check = { name: 'service', look: () => Promise.resolve([lookAtService()]) };

function lookAtService(): Reported {
  const services = serviceControlManager();
  try {
    return serviceFinding({
      ...services.status(SERVICE_NAME),
      ...services.config(SERVICE_NAME),
      logFolder: serviceLogFolder(),
    });
  } catch (error) {
    if (!(error instanceof WindowsError && error.code === 'notFound')) throw error;
    const advice = 'register it: wins srv app run --register';
    return warning('service', 'serviceMissing', `${SERVICE_NAME} is not registered`, advice);
  }
}

const checkFirewall: Check = {
  name: 'firewall',
  look: async (host, { config }) => {
    const open = firewallRules().list();
    if (open.length === 0) return [ok('firewall', 'no port is open for a run')];
    const isDaemonThere = await isServed(host, config.listen);
    return open.map(({ mark, rules }) => {
      const found = `open for the run ${mark}: ${rules.join('; ')}`;
      if (isDaemonThere) return ok('firewall', found);
      const advice = 'start the daemon, which closes the ports of ended runs';
      return problem('firewall', 'firewallLeft', `${found}, but no daemon is running`, advice);
    });
  },
};
