/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what the client needs of Windows; other systems never evaluate it. */
export function loadWindowsClient() {
  return require('./windows-client.js') as typeof import('./windows-client.js');
}
