/** Actions of csi-proxy in the audit log. */
import { featureAction, quoted } from '../../kernel/audit/decision.js';

export const APPLY = featureAction('csiProxyApply', 'before', 'apply csi-proxy by hand');
export const FETCH = featureAction(
  'csiProxyFetch',
  'before',
  ({ address }) => `fetch csi-proxy from ${quoted(address)}`,
);
export const SWITCH = featureAction(
  'csiProxySwitch',
  'before',
  ({ path }) => `make the service csiproxy run ${quoted(path)}`,
);
export const RESTORE = featureAction(
  'csiProxyRestore',
  'before',
  'undo an unfinished change of csi-proxy',
);
export const TIDY = featureAction('csiProxyTidy', 'before', 'remove unused releases of csi-proxy');
export const REMOVE = featureAction('csiProxyRemove', 'before', 'uninstall csi-proxy');
