import {
  InstallError,
  Secret,
  type EnvironmentWish,
  type FetchedParts,
  type ServerWish,
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

/** Parts for requests to a server. */
export interface Asker {
  readonly settings: RancherSettings;
  /** For how long a server is waited for. */
  readonly timeoutMs: number;
  /** Asks for nothing that the server remembers: who registers a node makes a machine of it. */
  readonly isDryRun: boolean;
  /** The connection info that the node has: in the place of what a server would give, while it is not asked for it. */
  readonly known: string | undefined;
  /** Gets what is known before the node is registered; rejects when nothing may come of it. */
  readonly judge: Judge;
}

/** Part of the wish that concerns a server. */
export type AskedWish = ServerWish &
  Partial<
    Pick<EnvironmentWish, 'isWorker' | 'labels' | 'taints' | 'nodeName'> &
      Pick<EnvironmentWish, 'address' | 'internalAddress'>
  >;

/**
 * Judges the server and registers this node with it. Nothing of the node is changed.
 *
 * @throws NetError, RancherError
 */
export async function askServer(
  wish: AskedWish & { readonly server: string; readonly token: Secret },
  nodeId: string,
  { settings, timeoutMs, isDryRun, known, judge }: Asker,
): Promise<FetchedParts> {
  const { server, caChecksum, isStrictTls: strictTls = false, labels = [], taints = [] } = wish;
  const token = wish.token.reveal();
  const wanted = { server, caChecksum, token, strictTls, timeoutMs };
  const trust = await establishTrust(wanted, settings);
  await checkHealth(trust, { timeoutMs }, { ...settings, secrets: [token] });
  const address = await resolveAddress(wish.address ?? '', settings);
  const internalAddress = await resolveAddress(wish.internalAddress ?? '', settings);
  // Where the system vouches for the server no file of ours has to.
  const usesOwn = trust.certificates.some(({ pem }) => trust.roots.includes(pem));
  const authorities = usesOwn ? trust.caPem : null;
  const parts = { authorities, connectionInfo: new Secret(known ?? '{}'), nodeId };
  await judge(parts);
  if (isDryRun) return parts;
  const node = {
    ...{ id: nodeId, isWorker: wish.isWorker ?? false, nodeName: wish.nodeName },
    ...{ address, internalAddress, labels: labels.join(','), taints: taints.join(',') },
  };
  const { text } = await registerNode(trust, { node, token, strictTls, timeoutMs }, settings);
  return { ...parts, connectionInfo: new Secret(text) };
}

const MAX_BYTES = 1024 * 1024;

/** The id in a file; undefined for one that no server takes. */
export async function readNodeId(file: string): Promise<string | undefined> {
  const text = await readIfThere(file);
  const verdict = text === undefined ? undefined : judgeNodeId(text);
  return verdict && 'id' in verdict ? verdict.id : undefined;
}

/**
 * The id of this node: the one in its file, the one given, the one that it had before an installation was undone, or a new one.
 *
 * @throws InstallError `refused` when the file has another valid one than was given: the server knows the node by that.
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
  throw new InstallError(
    'refused',
    `cannot use CATTLE_ID: ${file} has another id, by which the server knows this node; ${next}`,
  );
}

/** The text of a file of the node; undefined when there is none. */
export async function readIfThere(file: string): Promise<string | undefined> {
  const bytes = await readBytes(file, { maxBytes: MAX_BYTES }).catch(unlessNotFound);
  return bytes && decodeAnyway(bytes);
}
