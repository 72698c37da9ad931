import { asking } from '../../kernel/doctor-host.js';
import type { FeatureChecks } from '../../kernel/feature.js';
import { checkNetwork, networkQuestions } from './check-network.js';
import { judgeNodes } from './judge-nodes.js';

export const networkChecks: FeatureChecks = {
  judge: judgeNodes,
  doctor: [asking(checkNetwork, networkQuestions)],
};
