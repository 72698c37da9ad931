// Beside this file once everything is bundled; an import would make it part of this one, and each start would read it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the commands that run programs of the host. */
export function loadRunCommands() {
  return require('./wins-cli-run.cjs') as typeof import('./run-commands.js');
}
