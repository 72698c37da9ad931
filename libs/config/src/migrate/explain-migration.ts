import type { AllowedPath, WinsConfig } from '../wins-config.js';

const HEAD = `# What runs get is granted by their entries now (docs/compatibility.md). This is the config's own list with the
# keys that grant it, each as it is in force: paste it in the place of the old one and keep what is meant.
#
# envs         Variables that clients set (--envs): names, or beginnings such as KUBE_*. "any" is what earlier
#              releases allowed; what can make a program load code must be named in any case.
# args         none, any, or the argument lists that clients may pass.
# directories  Folders that clients name (--dir), besides the program's own.
# for          Who may run it: administrators, user:UID, account:SID, container:ID, container:*. Without it everybody may.
`;

const ENVIRONMENT = `# Runs no longer inherit the variables of the daemon: what every program needs besides PATH and its like goes here.
`;

const ROUTES = `# "route add" and "route rm" reach only what lies in these networks, such as 10.42.0.0/16; none in earlier configs, where any was
# allowed. Never the networks of the host itself, or its gateway; metadata of a cloud (169.254.169.254) only where it is listed itself.
# With an empty list such a call is refused (routeNotGranted).
`;

/** Says as YAML what an operator may have to add to a config of an earlier release. Pure; the text is itself a valid config. */
export function explainMigration({ whiteList, processEnvironment, routes }: WinsConfig): string {
  const entries = whiteList.processPaths.map(entryLines);
  const variables = Object.entries(processEnvironment).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}\n`,
  );
  const environment =
    variables.length === 0
      ? 'processEnvironment: {}\n'
      : `processEnvironment:\n${variables.join('')}`;
  const { processPaths: _entries, ...others } = whiteList;
  const list =
    entries.length === 0 ? '  processPaths: []\n' : `  processPaths:\n${entries.join('')}`;
  const granted = `routes:\n${linesOf(routes, '  ')}`;
  return `${HEAD}white_list:\n${list}${linesOf(others, '  ')}${ENVIRONMENT}${environment}${ROUTES}${granted}`;
}

// JSON is YAML: foreign text can break out of neither.
function linesOf(values: object, indent: string): string {
  return Object.entries(values)
    .map(([key, value]) => `${indent}${key}: ${JSON.stringify(value)}\n`)
    .join('');
}

function entryLines({ path, sha256, envs, args = 'any', ...others }: AllowedPath): string {
  const keys = { ...(sha256.length > 0 && { sha256 }), envs, args, ...others };
  return `    - path: ${JSON.stringify(path)}\n${linesOf(keys, '      ')}`;
}
