import { InstallError, type EnvironmentSettings, type InstallPaths } from '@wins/installation';
import { replaceFile } from '@wins/trusted-files';
import { quoteText } from '@wins/base';
import path from 'node:path';
import { readIfThere, readNodeId } from './ask-server.js';

const FILE = 'joined.json';
/** Variables that `wins join --again` reuses. The token is not among them. */
const VALUES: Readonly<Record<string, (settings: EnvironmentSettings) => string | undefined>> = {
  CATTLE_SERVER: (settings) => settings.server,
  CATTLE_CA_CHECKSUM: (settings) => settings.caChecksum,
  CATTLE_ROLE_WORKER: (settings) => String(settings.isWorker),
  CATTLE_LABELS: (settings) => settings.labels.join(','),
  CATTLE_TAINTS: (settings) => settings.taints.join(','),
  CATTLE_NODE_NAME: (settings) => settings.nodeName,
  CATTLE_ADDRESS: (settings) => settings.address,
  CATTLE_INTERNAL_ADDRESS: (settings) => settings.internalAddress,
  CATTLE_PRESERVE_WORKDIR: (settings) => String(settings.preservesWorkDirectory),
  STRICT_VERIFY: (settings) => settings.isStrictTls?.toString(),
};

/** @throws TrustedFileError */
export async function rememberJoined(
  { appliedFolder }: InstallPaths,
  settings: EnvironmentSettings,
) {
  const values = Object.entries(VALUES).map(([name, valueOf]) => [name, valueOf(settings)]);
  const [file, text] = [
    path.join(appliedFolder, FILE),
    `${JSON.stringify(Object.fromEntries(values))}\n`,
  ];
  if ((await readIfThere(file)) !== text) await replaceFile(file, Buffer.from(text));
}

/**
 * Returns the environment for a node that joins again: the values of its last join, unless a new value is given.
 * @throws InstallError `refused` when the node has not joined, or its values were not kept.
 */
export async function joinedEnvironment(
  { appliedFolder, nodeId }: InstallPaths,
  environment: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  const next = 'run "wins join" without --again';
  const refuse = (found: string): InstallError =>
    new InstallError('refused', `cannot join again: there is ${found}; ${next}`);
  if ((await readNodeId(nodeId)) === undefined)
    throw refuse(`no id of this node in ${quoteText(nodeId)}`);
  const file = path.join(appliedFolder, FILE);
  const joined = readValues(await readIfThere(file));
  if (joined === undefined)
    throw refuse(`nothing in ${quoteText(file)} about how this node joined`);
  // Empty variables stay, because an empty one removes a proxy.
  const given = Object.entries(environment);
  const names = new Set(given.map(([name, value]) => (value === '' ? '' : name.toUpperCase())));
  const kept = Object.entries(joined).filter(([name]) => !names.has(name));
  return Object.fromEntries([...given, ...kept]);
}

function readValues(text: string | undefined): Readonly<Record<string, string>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const known = Object.keys(VALUES).flatMap((name) => {
    const one = (value as Record<string, unknown>)[name];
    return typeof one === 'string' ? [[name, one] as const] : [];
  });
  return Object.fromEntries(known);
}
