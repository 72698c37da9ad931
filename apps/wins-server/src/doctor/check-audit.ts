import type { Check, DoctorHost } from './doctor-host.js';
import { ok, problem, warning, type Finding } from './finding.js';

const MIB = 1024 * 1024;

/** Whether the audit log can be written, by the daemon alone, and whether its newest file is unchanged. */
export const checkAudit: Check = {
  name: 'audit',
  look: async (host, { config }) => {
    const name = 'audit';
    const { path, place, faults, freeBytes } = await host.auditFolder(config);
    if (place.kind === 'missing') return [ok(name, `there is no audit log in ${path} yet`)];
    const findings = faults.map((fault) =>
      problem(name, `${path}: ${fault}`, 'fix it: the daemon refuses what it cannot record'),
    );
    if (place.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by the daemon alone: others could change what is recorded';
      findings.push(problem(name, `${path}: ${place.fault}`, advice));
    }
    const { maxFileBytes } = config.audit;
    if (freeBytes !== undefined && freeBytes < maxFileBytes) {
      const found = `${path}: its disk has ${Math.floor(freeBytes / MIB)} MiB left`;
      const advice = `make room: a file of the log has up to ${Math.ceil(maxFileBytes / MIB)} MiB, and without a record nothing may start`;
      findings.push(warning(name, found, advice));
    }
    return [...findings, ...(await verifyAudit(path, host))];
  },
};

async function verifyAudit(path: string, host: DoctorHost): Promise<readonly Finding[]> {
  const { ok: isWhole, records, lost, problems, problemCount } = await host.verifyAudit(path);
  const findings: Finding[] = [];
  if (lost > 0) {
    const found = `the newest file of ${path} says that ${lost} records were lost`;
    findings.push(warning('audit', found, 'see when, and what else happened: wins srv audit show'));
  }
  if (isWhole) {
    const found = `${path}: ${records} records of the newest file are as they were written`;
    return [...findings, ok('audit', found)];
  }
  const [first] = problems;
  const more = problemCount > 1 ? ` (and ${problemCount - 1} more)` : '';
  const found = `the audit log is not as it was written: ${path}: ${first?.file}: ${first?.what}${more}`;
  const advice = 'find out who could write there: wins srv audit verify names every place';
  return [...findings, problem('audit', found, advice)];
}
