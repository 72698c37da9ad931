/**
 * The applications of wins, one bundle each beside this one, loaded when a command needs them. An import would be resolved while they
 * are built, and each start would read them all.
 */
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the part of the client that asks which build the daemon is. */
export function infoClient() {
  return require('./wins-cli.cjs') as typeof import('@wins/wins-cli');
}

/** Loads the part of the client that asks the daemon for one answer. */
export function callClient() {
  return require('./wins-cli-calls.cjs') as typeof import('@wins/wins-cli/calls');
}

/** Loads the part of the client that runs programs of the host. */
export function runClient() {
  return require('./wins-cli-run.cjs') as typeof import('@wins/wins-cli/runs');
}

/** Loads the part of the client that carries connections to the host. */
export function tunnelClient() {
  return require('./wins-cli-proxy.cjs') as typeof import('@wins/wins-cli/tunnel');
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
