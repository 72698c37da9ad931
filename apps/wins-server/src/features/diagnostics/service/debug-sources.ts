import type { AuditTrail } from '../../../kernel/audit/audit-trail.js';
import type { ManagedProcess } from '@wins/process-manager';
import type { LogLevel } from '../../../kernel/log/log-level.js';
import type { OpenConnection } from '../../../kernel/rpc/connections.js';
import type { OpenSession } from '../../tunnel/tunnel-endpoint.js';

/** What the service of diagnosis asks of the daemon. */
export interface DebugSources {
  /** @throws FeatureError while the config does not want diagnosis, which may change at any time. */
  readonly requireOn: () => void;
  readonly audit: Pick<AuditTrail, 'decided'>;
  readonly level: Pick<LogLevel, 'now' | 'set' | 'reset'>;
  readonly connections: () => readonly OpenConnection[];
  readonly sessions: () => readonly OpenSession[];
  readonly runs: () => readonly ManagedProcess[];
}
