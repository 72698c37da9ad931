/** Each command loads its dependencies only when it runs. */
import { guard, later } from './guard.js';

export const runApp = guard(() => import('./commands/app-run.js'), 'runApp');
export const checkConfig = guard(() => import('./commands/config-check.js'), 'checkConfig');
export const printSchema = guard(() => import('./commands/config-check.js'), 'printSchema');
const explain = () => import('./commands/config-explain.js');
export const explainConfig = guard(explain, 'explainConfig');
/** For shell completion. */
export const listConfigKeys = later(explain, 'listConfigKeys');
export const reloadConfig = guard(() => import('./commands/config-check.js'), 'reloadConfig');
export const checkRegistry = guard(
  () => import('./features/agent/registry-check.js'),
  'checkRegistry',
);
export const showEvents = guard(() => import('./features/events/command.js'), 'showEvents');
export const showMetrics = guard(() => import('./features/metrics/command.js'), 'showMetrics');
export const showLogs = guard(() => import('./commands/logs.js'), 'showLogs');
export const showStatus = guard(() => import('./commands/doctor.js'), 'showStatus');
export const runDoctor = guard(() => import('./commands/doctor.js'), 'runDoctor');

const audit = () => import('./commands/audit.js');
export const showAudit = guard(audit, 'showAudit');
export const verifyAudit = guard(audit, 'verifyAudit');

const bundle = () => import('./support/command.js');
export const makeSupportBundle = guard(bundle, 'makeSupportBundle');

const plans = () => import('./features/agent/command.js');
export const showPlanStatus = guard(plans, 'showPlanStatus');
export const showPlans = guard(plans, 'showPlans');
export const showPlanHistory = guard(plans, 'showPlanHistory');
export const applyPlan = guard(plans, 'applyPlan');

const csiProxy = () => import('./features/csi-proxy/command.js');
export const showCsiProxy = guard(csiProxy, 'showCsiProxy');
export const applyCsiProxy = guard(csiProxy, 'applyCsiProxy');

const network = () => import('./features/network/command.js');
export const showNetwork = guard(network, 'showNetwork');
export const planNetwork = guard(network, 'planNetwork');
export const applyNetwork = guard(network, 'applyNetwork');
export const tearDownNetwork = guard(network, 'tearDownNetwork');

const debug = () => import('./features/diagnostics/command.js');
export const showStacks = guard(debug, 'showStacks');
export const showReport = guard(debug, 'showReport');
export const showHandles = guard(debug, 'showHandles');
export const showConnections = guard(debug, 'showConnections');
export const showRuns = guard(debug, 'showRuns');
export const showStreams = guard(debug, 'showStreams');
export const changeLogLevel = guard(debug, 'changeLogLevel');
export const writeHeap = guard(debug, 'writeHeap');
export const writeCpu = guard(debug, 'writeCpu');
export const writeTrace = guard(debug, 'writeTrace');

const stackDump = () => import('./features/diagnostics/stack-dump.js');
export const requestStackDump = guard(stackDump, 'requestStackDump');

/** For `wins uninstall`. */
export const removeFeatures = later(() => import('./remove-features.js'), 'removeFeatures');

/** For `wins up`. */
export const refuseDrops = later(() => import('./commands/refuse-drops.js'), 'refuseDrops');

/** Used by `wins cli`, which does not read configs itself. */
const deliveries = () => import('./commands/judge-delivery.js');
export const judgeDelivery = later(deliveries, 'judgeDelivery');
export const permitDrops = later(deliveries, 'permitDrops');
export const keepReplaced = later(deliveries, 'keepReplaced');

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
