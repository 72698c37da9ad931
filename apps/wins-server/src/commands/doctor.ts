import type { CommandSurroundings } from '@wins/wins-program';
import path from 'node:path';
import { examine } from '../doctor/examine.js';
import { localDoctorHost } from '../doctor/local-doctor-host.js';
import { exitCodeForFindings, reportValue, textReport } from '../doctor/report.js';
import { thisSystem } from '../this-system.js';

export interface DoctorOptions {
  readonly config?: string | undefined;
}

/** `wins doctor`: one report of what is well and what is not, with what to do. */
export async function runDoctor(
  options: DoctorOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const host =
    process.platform === 'win32'
      ? (await import('../doctor/windows-doctor-host.js')).windowsDoctorHost
      : localDoctorHost;
  const config = options.config === undefined ? undefined : path.resolve(options.config);
  const executable = process.argv[1] ?? process.execPath;
  const findings = await examine(host({ config, executable, system: await thisSystem() }));
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
