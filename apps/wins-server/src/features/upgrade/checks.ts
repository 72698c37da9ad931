import { asking } from '../../kernel/doctor-host.js';
import type { FeatureChecks } from '../../kernel/feature.js';
import { checkUpgrade, upgradeQuestions } from './check-upgrade.js';

export const upgradeChecks: FeatureChecks = {
  doctor: [asking(checkUpgrade, upgradeQuestions)],
};
