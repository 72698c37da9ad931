// Beside this file once everything is bundled; an import would make it part of this one, and each daemon would hold it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what keeps csi-proxy, which most daemons never need. */
export function loadCsiProxy() {
  return require('./wins-csi-proxy.cjs') as typeof import('./start-csi-proxy.js');
}
