/* oxlint-disable typescript/no-require-imports */

/** Called only on Windows. */
export function loadWindowsClient() {
  return require('./windows-client.js') as typeof import('./windows-client.js');
}
