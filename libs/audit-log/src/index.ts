/**
 * A numbered, chained, flushed record of decisions that cannot be outrun.
 *
 * It owns: the files of a log and their rotation, the chain, the flush before an act, the counting of floods, and reading and
 * checking it all. the rule how each kind of
 * decision of a daemon is recorded. It does not own: the decisions.
 *
 * @example
 * const log = await openAuditLog({ directory: '/var/lib/example/audit' });
 * await log.append({ kind: 'start', path: '/opt/tools/hello', requester: 'pipe:1' });
 * await log.close();
 * const { ok } = await verifyAuditLog('/var/lib/example/audit');
 * @module
 */
export { AuditError, type AuditErrorCode } from './audit-error.js';
export {
  openAuditLog,
  type AuditCounts,
  type AuditLog,
  type AuditLogOptions,
} from './audit-log.js';
export type { AuditFacts, AuditRecord } from './audit-record.js';
export type { Flood } from './flood-gate.js';
export { readAuditLog } from './read-audit-log.js';
export { AUDIT, AuditTrail, type AuditTrailOptions, type TrailLog } from './trail/audit-trail.js';
export type { Decision } from './trail/record-policy.js';
export { RECORD_HEAD, recordRow } from './trail/record-row.js';
export { verifyAuditLog, type AuditProblem, type AuditVerdict } from './verify-audit-log.js';
