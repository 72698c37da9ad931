import { asking } from '../../kernel/doctor-host.js';
import type { FeatureChecks } from '../../kernel/feature.js';
import { checkOrphans, checkWhiteList, runQuestions } from './check-white-list.js';

export const runChecks: FeatureChecks = {
  doctor: [checkWhiteList, checkOrphans].map((check) => asking(check, runQuestions)),
};
