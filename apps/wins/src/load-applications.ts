/** Each application is a separate bundle. A static import would put all applications into one bundle, which each start would read. */
/* oxlint-disable typescript/no-require-imports */

export function output() {
  return require('./wins-output.cjs') as typeof import('./output.js');
}

export function help() {
  return require('./wins-help.cjs') as typeof import('./command-line/print-help.js');
}

export function client() {
  return require('./wins-cli.cjs') as typeof import('@wins/wins-cli');
}

export function tunnelClient() {
  return require('./wins-cli-proxy.cjs') as typeof import('@wins/wins-cli/proxy');
}

export function server() {
  return require('./wins-server.cjs') as typeof import('@wins/wins-server');
}

export function doctorProgram() {
  return require('./wins-doctor.cjs') as typeof import('@wins/wins-server/doctor');
}

export function keeper() {
  return require('./wins-keeper.cjs') as typeof import('@wins/wins-server/keeper');
}

export function upgradeHelper() {
  return require('./wins-upgrade.cjs') as typeof import('@wins/wins-upgrade');
}
