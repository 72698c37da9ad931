/** Each command loads its dependencies only when it runs. */
import { commandsWith, functionsOf } from './guard.js';

const commandsOf = commandsWith(() => import('./exit-code-for-error.js'));
const explain = () => import('./commands/config-explain.js');

export const { runApp } = commandsOf(() => import('./commands/app-run.js'));
export const { checkConfig, printSchema, reloadConfig } = commandsOf(
  () => import('./commands/config-check.js'),
);
export const { explainConfig } = commandsOf(explain);
export const { checkRegistry } = commandsOf(() => import('./features/agent/registry-check.js'));
export const { showEvents } = commandsOf(() => import('./features/events/command.js'));
export const { showMetrics } = commandsOf(() => import('./features/metrics/command.js'));
export const { showLogs } = commandsOf(() => import('./commands/logs.js'));
export const { showAudit, verifyAudit } = commandsOf(() => import('./commands/audit.js'));
export const { makeSupportBundle } = commandsOf(() => import('./support/command.js'));
export const { showPlanStatus, showPlans, showPlanHistory, applyPlan } = commandsOf(
  () => import('./features/agent/command.js'),
);
export const { showCsiProxy, applyCsiProxy } = commandsOf(
  () => import('./features/csi-proxy/command.js'),
);
export const { showNetwork, planNetwork, applyNetwork, tearDownNetwork } = commandsOf(
  () => import('./features/network/command.js'),
);
export const {
  showStacks,
  showReport,
  showHandles,
  showConnections,
  showRuns,
  showStreams,
  changeLogLevel,
  writeHeap,
  writeCpu,
  writeTrace,
} = commandsOf(() => import('./features/diagnostics/command.js'));
export const { requestStackDump } = commandsOf(
  () => import('./features/diagnostics/stack-dump.js'),
);

/** For shell completion. */
export const { listConfigKeys } = functionsOf(explain);
/** For `wins uninstall`. */
export const { removeFeatures } = functionsOf(() => import('./remove-features.js'));
/** For `wins up`. */
export const { refuseDrops } = functionsOf(() => import('./commands/refuse-drops.js'));
/** For `wins cli`, which does not read configs itself. */
export const { judgeDelivery, permitDrops, keepReplaced } = functionsOf(
  () => import('./commands/judge-delivery.js'),
);

/** Values that commands print as JSON. */
export type { PlannedAction as CsiProxyStep } from '@wins/installation';
export type { CsiProxyFacts } from './features/csi-proxy/csi-proxy-facts.js';
export type { DiagnosticsFacts } from './features/diagnostics/diagnostics-facts.js';
export type { NetworkFacts, NetworkSteps } from './features/network/network-facts.js';
export type { PlanFacts } from './features/agent/plan-facts.js';
export type { PortsFacts } from './features/ports/ports-facts.js';
export type { AuditRecord } from './kernel/audit/audit-record.js';
export type { AuditVerdict } from './kernel/audit/verify-audit-log.js';
export type { Condition } from './kernel/conditions/condition.js';
export type { RingEvent } from './kernel/events/ring-files.js';
