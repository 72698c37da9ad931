/* eslint-disable @typescript-eslint/no-require-imports */

/** Never called on other systems than Windows. */
export function loadWindowsClient() {
  return require('./windows-client.js') as typeof import('./windows-client.js');
}
