import { escapeText, type Answer } from '@wins/base';
import { examine } from '../doctor/examine.js';
import { exitCodeForFindings, reportValue, textReport } from '../doctor/finding.js';
import { headlineOf, statusOf } from '../doctor/status.js';
import { thisDoctorHost } from '../doctor/this-doctor-host.js';
import { checkRegistries } from '../features/agent/check-agent.js';
import { FEATURES } from '../features/features.js';

export interface DoctorOptions {
  readonly config?: string | undefined;
  readonly registries: boolean;
}

export async function runDoctor(options: DoctorOptions): Promise<Answer> {
  const asked = options.registries ? [...FEATURES, { doctor: [checkRegistries] }] : FEATURES;
  const host = await thisDoctorHost(options.config);
  const headline = await headlineOf(host);
  const findings = await examine(host, asked);
  return {
    exitCode: exitCodeForFindings(findings),
    value: { ...reportValue(findings), status: headline },
    text: `the daemon ${escapeText(headline)}\n\n${textReport(findings)}`,
    table: {
      headings: ['LEVEL', 'CHECK', 'FOUND', 'ADVICE'],
      rows: findings.map(({ check, level, found, advice = '' }) => [level, check, found, advice]),
    },
    names: findings.filter(({ level }) => level !== 'ok').map(({ check }) => check),
  };
}

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
