// Loaded when it is called; an import would make each daemon hold what it is made of.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what keeps csi-proxy, which most daemons never need. */
export function loadCsiProxy() {
  return require('./start-csi-proxy.js') as typeof import('./start-csi-proxy.js');
}
