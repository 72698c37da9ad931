// Beside this file once everything is bundled; an import would make it part of this one, and each start would read it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the commands that ask the daemon something with one answer. */
export function loadCallCommands() {
  return require('./wins-cli-calls.cjs') as typeof import('./call-commands.js');
}
