// Loaded when it is called: other systems have none of what it calls.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what the client needs of Windows. */
export function loadWindowsClient() {
  return require('./windows-client.js') as typeof import('./windows-client.js');
}
