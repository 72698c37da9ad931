import type { Answer } from '@wins/base';
import { reportValue, exitCodeForFindings, textReport } from '../doctor/report.js';
import { statusOf } from '../doctor/status.js';
import { thisDoctorHost } from '../doctor/this-doctor-host.js';

export async function showStatus(options: {
  readonly config?: string | undefined;
}): Promise<Answer> {
  const status = await statusOf(await thisDoctorHost(options.config));
  return {
    exitCode: exitCodeForFindings(status),
    value: reportValue(status),
    text: textReport(status),
    names: status.filter(({ level }) => level !== 'ok').map(({ check }) => check),
  };
}
