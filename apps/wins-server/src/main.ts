/**
 * `wins srv` and `wins doctor`: the daemon and what belongs to it. Each command is a function of its options; what it needs is loaded
 * when it runs.
 */
import type { keepReplaced as KeepReplaced, permitDrops as PermitDrops } from '@wins/config';
import type { judgeDelivery as JudgeDelivery } from './configuration/judge-delivery.js';
import type { refuseDrops as RefuseDrops } from './configuration/refuse-drops.js';
import { guard } from './guard.js';

export const runApp = guard(async () => (await import('./commands/app-run.js')).runApp);
export const checkConfig = guard(
  async () => (await import('./commands/config-check.js')).checkConfig,
);
export const printSchema = guard(
  async () => (await import('./commands/config-schema.js')).printSchema,
);
export const explainConfig = guard(
  async () => (await import('./commands/config-explain.js')).explainConfig,
);
export const reloadConfig = guard(
  async () => (await import('./commands/config-reload.js')).reloadConfig,
);
export const showAudit = guard(async () => (await import('./commands/audit-show.js')).showAudit);
export const verifyAudit = guard(
  async () => (await import('./commands/audit-verify.js')).verifyAudit,
);
export const showEvents = guard(async () => (await import('./commands/events-show.js')).showEvents);
export const makeSupportBundle = guard(
  async () => (await import('./commands/support-bundle.js')).makeSupportBundle,
);
export const runDoctor = guard(async () => (await import('./commands/doctor.js')).runDoctor);
export const showPlanStatus = guard(
  async () => (await import('./commands/plan/show.js')).showPlanStatus,
);
export const showPlans = guard(async () => (await import('./commands/plan/show.js')).showPlans);
export const showPlanHistory = guard(
  async () => (await import('./commands/plan/show.js')).showPlanHistory,
);
export const showCsiProxy = guard(
  async () => (await import('./commands/csi-proxy.js')).showCsiProxy,
);
export const applyCsiProxy = guard(
  async () => (await import('./commands/csi-proxy.js')).applyCsiProxy,
);
export const showMetrics = guard(async () => (await import('./commands/metrics.js')).showMetrics);
export const showStacks = guard(async () => (await import('./commands/debug/show.js')).showStacks);
export const showReport = guard(async () => (await import('./commands/debug/show.js')).showReport);
export const showHandles = guard(
  async () => (await import('./commands/debug/show.js')).showHandles,
);
export const showConnections = guard(
  async () => (await import('./commands/debug/show.js')).showConnections,
);
export const showRuns = guard(async () => (await import('./commands/debug/show.js')).showRuns);
export const showStreams = guard(
  async () => (await import('./commands/debug/show.js')).showStreams,
);
export const changeLogLevel = guard(
  async () => (await import('./commands/debug/show.js')).changeLogLevel,
);
export const writeHeap = guard(
  async () => (await import('./commands/debug/write-files.js')).writeHeap,
);
export const writeCpu = guard(
  async () => (await import('./commands/debug/write-files.js')).writeCpu,
);
export const writeTrace = guard(
  async () => (await import('./commands/debug/write-files.js')).writeTrace,
);
export const requestStackDump = guard(
  async () => (await import('./commands/debug/stack-dump.js')).requestStackDump,
);
export const applyPlan = guard(async () => (await import('./commands/plan/apply.js')).applyPlan);

/** See `removeCsiProxy`: for `wins uninstall`, which is another application. */
export async function removeCsiProxy(
  configFile: string,
  isAdopted: boolean,
): Promise<string | undefined> {
  const { removeCsiProxy: remove } = await import('./features/csi-proxy/remove-csi-proxy.js');
  return await remove(configFile, isAdopted);
}

/** See `judgeDelivery`: for `wins cli deliver`, which is another application. */
export const judgeDelivery: typeof JudgeDelivery = async (offered) => {
  const { judgeDelivery: judge } = await import('./configuration/judge-delivery.js');
  return await judge(offered);
};

/** See `refuseDrops`: for `wins up`, which is another application. */
export const refuseDrops: typeof RefuseDrops = async (config) => {
  const { refuseDrops: refuse } = await import('./configuration/refuse-drops.js');
  return await refuse(config);
};

/** See `permitDrops` of `@wins/config`: for `wins cli`, which does not read configs. */
export const permitDrops: typeof PermitDrops = async (...permission) => {
  const { permitDrops: permit } = await import('./configuration/judge-delivery.js');
  await permit(...permission);
};

/** See `keepReplaced` of `@wins/config`: for `wins cli deliver`. */
export const keepReplaced: typeof KeepReplaced = async (file) => {
  const { keepReplaced: keep } = await import('./configuration/judge-delivery.js');
  await keep(file);
};
