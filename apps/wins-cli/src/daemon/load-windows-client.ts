/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the Windows-specific part of the client; never called on other systems. */
export function loadWindowsClient() {
  return require('./windows-client.js') as typeof import('./windows-client.js');
}
