/**
 * Loads the applications of wins, each a separate bundle beside this one, when a command needs them. The bundler would include a static
 * import, and each start would read all of them.
 */
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads the functions that print help, tables and YAML. */
export function output() {
  return require('./wins-output.cjs') as typeof import('./output.js');
}

/** Loads the client. */
export function client() {
  return require('./wins-cli.cjs') as typeof import('@wins/wins-cli');
}

/** Loads the part of the client that forwards connections to the host. */
export function tunnelClient() {
  return require('./wins-cli-proxy.cjs') as typeof import('@wins/wins-cli/proxy');
}

/** Loads the daemon and its commands. */
export function server() {
  return require('./wins-server.cjs') as typeof import('@wins/wins-server');
}

/** Loads the program that keeps runs that outlive the daemon. */
export function keeper() {
  return require('./wins-keeper.cjs') as typeof import('@wins/wins-server/keeper');
}

/** Loads the upgrade helper and the commands that install a node. */
export function upgradeHelper() {
  return require('./wins-upgrade.cjs') as typeof import('@wins/wins-upgrade');
}
