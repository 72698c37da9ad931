import { messageOf } from '@wins/wins-program';
import { checkAudit } from './check-audit.js';
import { checkConfig } from './check-config.js';
import { checkOrphans } from './check-orphans.js';
import { checkPipes } from './check-pipes.js';
import { checkVersions } from './check-versions.js';
import { checkWatchedFile } from './check-watched-file.js';
import { checkWhiteList } from './check-white-list.js';
import type { Check, DoctorProbe, Patient } from './doctor-probe.js';
import { warning, type Finding } from './finding.js';

const CHECKS: readonly Check[] = [
  checkPipes,
  checkWhiteList,
  checkOrphans,
  checkAudit,
  checkWatchedFile,
];

/**
 * Asks everything, one after another; a question that cannot be asked keeps none of the others from it.
 *
 * @param systemChecks - What only this system has: services, firewall rules.
 */
export async function examine(
  probe: DoctorProbe,
  systemChecks: readonly Check[],
): Promise<readonly Finding[]> {
  const { config, findings } = await checkConfig(probe);
  const patient = { probe, config };
  const all: Finding[] = [...(await ask(checkVersions, patient)), ...findings];
  for (const check of [...CHECKS, ...systemChecks]) all.push(...(await ask(check, patient)));
  return all;
}

async function ask({ name, look }: Check, patient: Patient): Promise<readonly Finding[]> {
  try {
    return await look(patient);
  } catch (error) {
    const advice = 'run this as an administrator; if that is what it did, the line says why';
    return [warning(name, `cannot tell: ${messageOf(error)}`, advice)];
  }
}
