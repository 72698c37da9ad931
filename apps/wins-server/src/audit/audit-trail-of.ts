import type { WinsConfig } from '@wins/config';
import type { Logger } from '../log/logger.js';
import { systemFileTrust } from '../system-file-trust.js';
import { auditDirectoryOf } from './audit-directory.js';
import { AuditTrail } from './audit-trail.js';

/** The audit trail of the daemon of a config; not open yet. */
export async function auditTrailOf(config: WinsConfig, logger: Logger): Promise<AuditTrail> {
  const { maxFileBytes, maxFiles } = config.audit;
  const options = { directory: auditDirectoryOf(config), maxFileBytes, maxFiles };
  const { ensurePrivateFolder } = await systemFileTrust();
  return new AuditTrail({ ...options, prepareDirectory: ensurePrivateFolder }, logger);
}
