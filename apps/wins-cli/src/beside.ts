// Beside this file once everything is bundled; an import would make them part of it, and each start would read them.
/* eslint-disable @typescript-eslint/no-require-imports */

/** What the client needs of Windows. */
export function windowsClient() {
  return require('./wins-cli-windows.cjs') as typeof import('./windows-client.js');
}

/** The tunnel's half of the client. */
export function tunnelClient() {
  return require('./wins-cli-proxy.cjs') as typeof import('./commands/proxy.js');
}
