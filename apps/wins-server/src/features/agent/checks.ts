import { asking } from '../../kernel/doctor-host.js';
import type { FeatureChecks } from '../../kernel/feature.js';
import { judgeAgent } from './agent-settings.js';
import { agentQuestions, checkAgent } from './check-agent.js';

export const agentChecks: FeatureChecks = {
  judge: judgeAgent,
  doctor: [asking(checkAgent, agentQuestions)],
};
