/**
 * The applications of wins, one bundle each beside this one, loaded when a command needs them. An import would be resolved while they
 * are built, and each start would read them all.
 */
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what prints help, tables and YAML. */
export function output() {
  return require('./wins-output.cjs') as typeof import('./output.js');
}

/** Loads the client. */
export function client() {
  return require('./wins-cli.cjs') as typeof import('@wins/wins-cli');
}

/** Loads the part of the client that carries connections to the host. */
export function tunnelClient() {
  return require('./wins-cli-proxy.cjs') as typeof import('@wins/wins-cli/proxy');
}

/** Loads the daemon and what belongs to it. */
export function server() {
  return require('./wins-server.cjs') as typeof import('@wins/wins-server');
}

/** Loads what keeps runs that outlive the daemon. */
export function keeper() {
  return require('./wins-keeper.cjs') as typeof import('@wins/wins-server/keeper');
}

/** Loads the upgrade helper, and what installs a node. */
export function upgradeHelper() {
  return require('./wins-upgrade.cjs') as typeof import('@wins/wins-upgrade');
}
