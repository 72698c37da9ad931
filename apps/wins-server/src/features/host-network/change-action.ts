/** Changes of routes and of relayed ports, in the audit log. */
import { featureAction } from '../../kernel/audit/decision.js';

export const CHANGE = featureAction(
  'hostNetworkChange',
  'before',
  ({ name }) => `change routes of the host: ${name ?? ''}`,
);
export const APPLY = featureAction(
  'hostNetworkApply',
  'before',
  'apply the network of the host by hand',
);
export const REMOVE = featureAction(
  'hostNetworkTeardown',
  'before',
  'tear down the network of the host',
);
