import type { Check, DoctorProbe } from './doctor-probe.js';
import { ok, problem, warning, type Finding } from './finding.js';

const CHECK = 'audit';
const MIB = 1024 * 1024;

/** Says whether the audit log can be written, by the daemon alone, and whether its newest file is as it was written. */
export const checkAudit: Check = {
  name: CHECK,
  look: async ({ probe, config }) => {
    const { path, place, faults, freeBytes } = await probe.auditFolder(config);
    if (place.kind === 'missing') return [ok(CHECK, `there is no audit log in ${path} yet`)];
    const findings: Finding[] = faults.map((fault) =>
      problem(CHECK, `${path}: ${fault}`, 'mend it: what cannot be recorded is refused'),
    );
    if (place.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by the daemon alone: others could change what is recorded';
      findings.push(problem(CHECK, `${path}: ${place.rule}`, advice));
    }
    const { maxFileBytes } = config.audit;
    if (freeBytes !== undefined && freeBytes < maxFileBytes) {
      const found = `${path}: its disk has ${Math.floor(freeBytes / MIB)} MiB left`;
      const advice = `make room: a file of the log has up to ${Math.ceil(maxFileBytes / MIB)} MiB, and without a record nothing may start`;
      findings.push(warning(CHECK, found, advice));
    }
    return [...findings, ...(await verify(path, probe))];
  },
};

async function verify(path: string, probe: DoctorProbe): Promise<readonly Finding[]> {
  const { ok: isWhole, records, lost, problems, problemCount } = await probe.verifyAudit(path);
  const findings: Finding[] = [];
  if (lost > 0) {
    const found = `the newest file of ${path} says that ${lost} records were lost`;
    findings.push(warning(CHECK, found, 'look when, and what else was: wins srv audit show'));
  }
  if (isWhole)
    return [
      ...findings,
      ok(CHECK, `${path}: ${records} records of the newest file are as they were written`),
    ];
  const [first] = problems;
  const more = problemCount > 1 ? ` (and ${problemCount - 1} more)` : '';
  const found = `the audit log is not as it was written: ${path}: ${first?.file}: ${first?.what}${more}`;
  const advice = 'find out who could write there: wins srv audit verify names every place';
  return [...findings, problem(CHECK, found, advice)];
}
