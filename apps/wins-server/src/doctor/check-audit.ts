import type { Check, DoctorHost } from './doctor-host.js';
import { ok, problem, warning, type Finding } from './finding.js';

export const checkAudit: Check = {
  name: 'audit',
  look: async (host, { config }) => {
    const name = 'audit';
    const { path, judgement, faults } = await host.auditFolder(config);
    if (judgement.kind === 'missing') {
      const isServed = await host.reachPipe(config.listen).then(
        () => true,
        () => false,
      );
      if (!isServed) return [ok(name, `there is no audit log in ${path} yet`)];
      const found = `there is no audit log in ${path}, although a daemon is running: it was moved or removed, so new records are lost`;
      return [problem(name, found, 'restore the folder, or restart the daemon, which creates it')];
    }
    const findings = faults.map((fault) =>
      problem(
        name,
        `${path}: ${fault}`,
        'fix it: the daemon refuses requests that it cannot record',
      ),
    );
    if (judgement.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by the daemon only: others could change the records';
      findings.push(problem(name, judgement.message, advice));
    }
    return [...findings, ...(await verifyAudit(path, host))];
  },
};

async function verifyAudit(path: string, host: DoctorHost): Promise<readonly Finding[]> {
  const { ok: isWhole, records, lost, problems, problemCount } = await host.verifyAudit(path);
  const findings: Finding[] = [];
  if (lost > 0) {
    const found = `the newest file of ${path} reports ${lost} lost records`;
    findings.push(warning('audit', found, 'see when, and what else happened: wins srv audit show'));
  }
  if (isWhole) {
    const found = `${path}: the ${records} records of the newest file are unchanged`;
    return [...findings, ok('audit', found)];
  }
  const [first] = problems;
  const more = problemCount > 1 ? ` (and ${problemCount - 1} more)` : '';
  const found = `the audit log is damaged or edited: ${path}: ${first?.file}: ${first?.what}${more}`;
  const advice = 'find out who can write there; "wins srv audit verify" lists every damaged record';
  return [...findings, problem('audit', found, advice)];
}
