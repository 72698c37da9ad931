// Beside this file once everything is bundled; an import would make it part of this one, and each daemon would hold it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the agent, which most daemons at a terminal never need. */
export function loadAgent() {
  return require('./wins-agent.cjs') as typeof import('./start-agent.js');
}
