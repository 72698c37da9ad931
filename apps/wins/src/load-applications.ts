/**
 * The applications of wins, one bundle each beside this one, loaded when a command needs them. An import would be resolved while they
 * are built, and each start would read them all.
 */
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the client. */
export function client() {
  return require('./wins-cli.cjs') as typeof import('@wins/wins-cli');
}

/** Loads the daemon and what belongs to it. */
export function server() {
  return require('./wins-server.cjs') as typeof import('@wins/wins-server');
}

/** Loads the upgrade helper. */
export function upgradeHelper() {
  return require('./wins-upgrade.cjs') as typeof import('@wins/wins-upgrade');
}

/** Loads what installs a node. */
export function installer() {
  return require('./wins-install.cjs') as typeof import('@wins/wins-upgrade/install');
}
