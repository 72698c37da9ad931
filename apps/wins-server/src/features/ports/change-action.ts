import { featureAction } from '../../kernel/audit/decision.js';

/** A change of routes or of relayed ports, in the audit log. */
export const CHANGE = featureAction(
  'hostNetworkChange',
  'before',
  ({ name }) => `change routes of the host: ${name ?? ''}`,
);
