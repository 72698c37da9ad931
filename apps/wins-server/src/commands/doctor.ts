import type { CommandSurroundings } from '@wins/wins-program';
import { examine } from '../doctor/examine.js';
import { exitCodeForFindings, reportValue, textReport } from '../doctor/report.js';
import { thisDoctorHost } from '../doctor/this-doctor-host.js';

export interface DoctorOptions {
  readonly config?: string | undefined;
}

/** `wins doctor`: one report of what is well and what is not, with what to do. */
export async function runDoctor(
  options: DoctorOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const findings = await examine(await thisDoctorHost(options.config));
  await show({
    value: reportValue(findings),
    text: textReport(findings),
    table: {
      headings: ['LEVEL', 'CHECK', 'FOUND', 'ADVICE'],
      rows: findings.map(({ check, level, found, advice = '' }) => [level, check, found, advice]),
    },
    names: findings.filter(({ level }) => level !== 'ok').map(({ check }) => check),
  });
  return exitCodeForFindings(findings);
}
