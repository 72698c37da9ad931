// Beside this file once everything is bundled; an import would make it part of this one, and each start would read it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what the client needs of Windows. */
export function loadWindowsClient() {
  return require('./wins-cli-windows.cjs') as typeof import('./windows-client.js');
}
