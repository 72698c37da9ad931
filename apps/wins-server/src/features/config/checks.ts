import { asking } from '../../kernel/doctor-host.js';
import type { FeatureChecks } from '../../kernel/feature.js';
import { checkServed, servedQuestions } from './check-served.js';

export const configChecks: FeatureChecks = {
  doctor: [asking(checkServed, servedQuestions)],
};
