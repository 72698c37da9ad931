import type { FeatureChecks } from '../../kernel/feature.js';
import { checkPorts } from './check-ports.js';

export const tunnelChecks: FeatureChecks = { doctor: [checkPorts] };
