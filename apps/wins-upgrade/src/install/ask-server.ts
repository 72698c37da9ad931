import {
  InstallError,
  Secret,
  type EnvironmentSettings,
  type FetchedParts,
  type ServerSettings,
} from '@wins/installation';
import {
  checkHealth,
  establishTrust,
  judgeNodeId,
  newNodeId,
  registerNode,
  resolveAddress,
  type RancherSettings,
} from '@wins/rancher-client';
import { decodeAnyway, readBytes, unlessNotFound } from '@wins/trusted-files';
import type { Judge } from './node-task.js';

export interface Asker {
  readonly settings: RancherSettings;
  readonly timeoutMs: number;
  /** Skips the registration, which creates a machine on the server. */
  readonly isDryRun: boolean;
  readonly known: string | undefined;
  readonly judge: Judge;
}

export type AskedSettings = ServerSettings &
  Partial<
    Pick<EnvironmentSettings, 'isWorker' | 'labels' | 'taints' | 'nodeName'> &
      Pick<EnvironmentSettings, 'address' | 'internalAddress'>
  >;

/** Checks the server and registers this node with it. Nothing on the node changes. @throws NetError, RancherError */
export async function askServer(
  asked: AskedSettings & { readonly server: string; readonly token: Secret },
  nodeId: string,
  { settings, timeoutMs, isDryRun, known, judge }: Asker,
): Promise<FetchedParts> {
  const { server, caChecksum, isStrictTls: strictTls = false, labels = [], taints = [] } = asked;
  const token = asked.token.reveal();
  const wanted = { server, caChecksum, token, strictTls, timeoutMs };
  const trust = await establishTrust(wanted, settings);
  await checkHealth(trust, { timeoutMs }, { ...settings, secrets: [token] });
  const address = await resolveAddress(asked.address ?? '', settings);
  const internalAddress = await resolveAddress(asked.internalAddress ?? '', settings);
  // The system's certificates suffice, unless the server uses an authority of its own.
  const usesOwn = trust.certificates.some(({ pem }) => trust.roots.includes(pem));
  const authorities = usesOwn ? trust.caPem : null;
  const parts = { authorities, connectionInfo: new Secret(known ?? '{}'), nodeId };
  await judge(parts);
  if (isDryRun) return parts;
  const node = {
    id: nodeId,
    isWorker: asked.isWorker ?? false,
    nodeName: asked.nodeName,
    address,
    internalAddress,
    labels: labels.join(','),
    taints: taints.join(','),
  };
  const { text } = await registerNode(trust, { node, token, strictTls, timeoutMs }, settings);
  return { ...parts, connectionInfo: new Secret(text) };
}

const MAX_BYTES = 1024 * 1024;

export async function readNodeId(file: string): Promise<string | undefined> {
  const text = await readIfThere(file);
  const verdict = text === undefined ? undefined : judgeNodeId(text);
  return verdict && 'id' in verdict ? verdict.id : undefined;
}

/**
 * Returns the id in the file; else `given`; else `before`, the id that the file had before a rollback; else a new one.
 * @throws InstallError `refused` if the file has a valid id other than `given`, because the server knows the node by the file's id.
 */
export async function findNodeId(
  file: string,
  given: string | undefined,
  before: string | undefined,
): Promise<string> {
  const own = await readNodeId(file);
  if (own === undefined) return given ?? before ?? newNodeId();
  if (given === undefined || given === own) return own;
  const next = 'to join as another machine, run "wins leave" first';
  const message = `cannot use CATTLE_ID: ${file} has another id, by which the server knows this node; ${next}`;
  throw new InstallError('refused', message);
}

export async function readIfThere(file: string): Promise<string | undefined> {
  const bytes = await readBytes(file, { maxBytes: MAX_BYTES }).catch(unlessNotFound);
  return bytes && decodeAnyway(bytes);
}
