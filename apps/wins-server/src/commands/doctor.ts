import type { Answer } from '@wins/base';
import { examine } from '../doctor/examine.js';
import { exitCodeForFindings, reportValue, textReport } from '../kernel/conditions/report.js';
import { writePage } from '../support/make-page.js';
import { thisDoctorHost } from '../doctor/this-doctor-host.js';
import { checkRegistries } from '../features/agent/check-agent.js';
import { CHECKS } from '../features/checks.js';
import { reportOf, type Reported } from '../kernel/conditions/condition.js';

export interface DoctorOptions {
  readonly config?: string | undefined;
  readonly registries: boolean;
}

export interface StatusOptions {
  readonly config?: string | undefined;
  /** File of the page, which must not exist yet. Default: no page is written. */
  readonly html?: string | undefined;
}

export async function runDoctor(options: DoctorOptions): Promise<Answer> {
  const asked = options.registries ? [...CHECKS, { doctor: [checkRegistries] }] : CHECKS;
  await using host = thisDoctorHost(options.config);
  return report(await examine(host, asked));
}

/** The same findings and the same verdict as the doctor's, with fewer lines: what is not well, and the main facts. */
export async function showStatus({ config, html }: StatusOptions): Promise<Answer> {
  await using host = thisDoctorHost(config, html === undefined ? undefined : new Date(0));
  const reported = await examine(host);
  if (html !== undefined) {
    await writePage({ file: html, config }, host, reported);
  }
  return report(reported, ({ level, isSummary }) => level !== 'ok' || isSummary === true);
}

function report(
  reported: readonly Reported[],
  isShown: (one: Reported) => boolean = () => true,
): Answer {
  const findings = reportOf(reported);
  const shown = reportOf(reported, isShown);
  return {
    exitCode: exitCodeForFindings(findings),
    value: reportValue(findings, shown),
    text: textReport(findings, shown),
    table: {
      headings: ['LEVEL', 'CHECK', 'FOUND', 'ADVICE'],
      rows: shown.map(({ check, level, found, advice = '' }) => [level, check, found, advice]),
    },
    names: findings.filter(({ level }) => level !== 'ok').map(({ check }) => check),
  };
}
