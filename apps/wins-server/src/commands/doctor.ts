import { defaultConfigPath } from '@wins/config';
import path from 'node:path';
import { doctorSystem } from '../doctor/doctor-system.js';
import { examine } from '../doctor/examine.js';
import { exitCodeOf, jsonReport, textReport } from '../doctor/report.js';
import { SystemDoctorProbe } from '../doctor/system-doctor-probe.js';

interface DoctorOptions {
  readonly config?: string | undefined;
  readonly json: boolean;
}

/** `wins doctor`: one report of what is well and what is not, with what to do. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const system = await doctorSystem(process.platform);
  const file = path.resolve(options.config ?? defaultConfigPath());
  const probe = new SystemDoctorProbe(file, process.argv[1] ?? process.execPath, system);
  const findings = await examine(probe, system.checks);
  process.stdout.write(options.json ? jsonReport(findings) : textReport(findings));
  return exitCodeOf(findings);
}
