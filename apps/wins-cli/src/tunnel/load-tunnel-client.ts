// Beside this file once everything is bundled; an import would make it part of this one, and each start would read it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the tunnel's half of the client. */
export function loadTunnelClient() {
  return require('./wins-cli-proxy.cjs') as typeof import('../commands/proxy.js');
}
