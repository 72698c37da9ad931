// A program beside this one, which other systems never read.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what the client needs of Windows. */
export function loadWindowsClient() {
  return require('./wins-cli-windows.cjs') as typeof import('./windows-client.js');
}
