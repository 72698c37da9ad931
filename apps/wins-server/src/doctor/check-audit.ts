import { isServed, type Check, type DoctorHost } from '../kernel/doctor-host.js';
import { ok, problem, warning, type Reported } from '../kernel/conditions/condition.js';

export const checkAudit: Check = {
  name: 'audit',
  look: async (host, { config }) => {
    const name = 'audit';
    const { path, judgement, faults } = await host.auditFolder(config);
    if (judgement.kind === 'missing') {
      if (!(await isServed(host, config.listen)))
        return [ok(name, `there is no audit log in ${path} yet`)];
      const found = `there is no audit log in ${path}, although a daemon is running: it was moved or removed, so new records are lost`;
      return [
        problem(
          name,
          'auditFolderMissing',
          found,
          'restore the folder, or restart the daemon, which creates it',
        ),
      ];
    }
    const findings = faults.map((fault) =>
      problem(
        name,
        'auditFolderUnusable',
        `${path}: ${fault}`,
        'fix it: the daemon refuses requests that it cannot record',
      ),
    );
    if (judgement.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by the daemon only: others could change the records';
      findings.push(problem(name, 'auditFolderUntrusted', judgement.message, advice));
    }
    return [...findings, ...(await verifyAudit(path, host))];
  },
};

async function verifyAudit(path: string, host: DoctorHost): Promise<readonly Reported[]> {
  const { ok: isWhole, records, lost, problems, problemCount } = await host.verifyAudit(path);
  const findings: Reported[] = [];
  if (lost > 0) {
    const found = `the newest file of ${path} reports ${lost} lost records`;
    findings.push(
      warning('audit', 'auditLost', found, 'see when, and what else happened: wins srv audit show'),
    );
  }
  if (isWhole) {
    const found = `${path}: the ${records} records of the newest file are unchanged`;
    return [...findings, ok('audit', found)];
  }
  const [first] = problems;
  const more = problemCount > 1 ? ` (and ${problemCount - 1} more)` : '';
  const found = `the audit log is damaged or edited: ${path}: ${first?.file}: ${first?.what}${more}`;
  const advice = 'find out who can write there; "wins srv audit verify" lists every damaged record';
  return [...findings, problem('audit', 'auditDamaged', found, advice)];
}
