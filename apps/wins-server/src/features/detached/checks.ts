import { asking } from '../../kernel/doctor-host.js';
import type { FeatureChecks } from '../../kernel/feature.js';
import { checkDetachedRuns, checkLivingRuns, detachedQuestions } from './check-detached-runs.js';
import { judgeKeep } from './kept-programs.js';

export const detachedChecks: FeatureChecks = {
  judge: judgeKeep,
  doctor: [checkDetachedRuns, checkLivingRuns].map((check) => asking(check, detachedQuestions)),
};
