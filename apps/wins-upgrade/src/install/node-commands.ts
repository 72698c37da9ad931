import { SignedProgram } from '@wins/service-upgrade';
import {
  InstallError,
  desiredInstallation,
  desiredInstallationOfSuc,
  leftInstallation,
  sucSettingsFromEnvironment,
  settingsFromEnvironment,
  type FetchedParts,
  type InstallPaths,
  type DesiredInstallation,
  type StagedProgram,
} from '@wins/installation';
import { decodeText, foundIn, hashFile, readBytes, WANTED_TEXT } from '@wins/trusted-files';
import {
  escapeText,
  messageOf,
  quoteText,
  SERVICE_NAME,
  VERSION,
  type CommandHandler,
  type CommandSurroundings,
} from '@wins/base';
import {
  askServer,
  findNodeId,
  readIfThere,
  readNodeId,
  type AskedSettings,
} from './ask-server.js';
import { composeNode } from '../compose.js';
import { joinedEnvironment, rememberJoined } from './joined-before.js';
import type { NodeParts } from '../node-of-system.js';
import { agentProof } from './node-parts.js';
import {
  adoptNode,
  changeNode,
  removeNode,
  type Judge,
  type NodeTask,
  type FeaturesOfDaemon,
} from './node-task.js';
import { reportNode, type NodeOptions } from './report-node.js';
import { winHttpProxyOf } from './win-http-proxy.js';

export type InstallOptions = NodeOptions &
  Readonly<Record<'adopt' | 'allow-downgrade' | 'delayed-start', boolean>>;

type JoinFlag = 'again' | 'worker' | 'strict-tls-verification' | 'trust-machine' | 'winhttp-proxy';
type JoinText = 'server' | 'ca-checksum' | 'token-file' | 'node-name' | 'address';

export type JoinOptions = Omit<InstallOptions, 'adopt'> &
  ServerOptions &
  Readonly<
    Record<JoinFlag, boolean> &
      Record<'label' | 'taint', readonly string[]> &
      Partial<Record<JoinText | 'internal-address', string | undefined>>
  >;

export interface ServerOptions {
  readonly 'allow-http': boolean;
  readonly timeout?: number | undefined;
}

export type UninstallOptions = NodeOptions &
  Readonly<Record<'adopt' | 'keep-data' | 'force', boolean>>;

export interface SucCommandOptions extends NodeOptions, ServerOptions {
  readonly 'rancher-compatible': boolean;
}

export const runInstall: CommandHandler<InstallOptions> = (options, surroundings) =>
  reportNode(options, surroundings, async (task) => {
    const given = { ...process.env, ...LOCAL };
    const settings = settingsFromEnvironment(given, options);
    const node = await nodeOf(options, settings.paths);
    const fetched = { program: await ownProgram(node), allowDowngrade: options['allow-downgrade'] };
    const wanted = desiredInstallation({ ...settings, paths: node.paths }, fetched);
    if (options.adopt) return adoptNode(node, wanted, task);
    const alone = () => requireNoServer(node.paths).then(() => ({}));
    return changeNode(node, () => wanted, 'install', task, alone);
  });

export const runJoin: CommandHandler<JoinOptions> = (options, surroundings) =>
  reportNode(options, surroundings, async (task) => {
    const environment = options.again
      ? await joinedEnvironment((await nodeOf(options, localPaths())).paths, process.env)
      : process.env;
    const { 'token-file': file } = options;
    const token = file === undefined ? undefined : await readToken(file);
    const settings = settingsFromEnvironment(environment, { ...options, token });
    const node = await nodeOf(options, settings.paths);
    const { paths } = node;
    // Read the id before an interrupted command is rolled back, so that the new registration reuses it.
    const before = await readNodeId(paths.nodeId);
    const program = await ownProgram(node);
    requireDigest(program.sha256, settings.programSha256);
    const desiredWith = (fetched: FetchedParts): DesiredInstallation =>
      desiredInstallation(
        { ...settings, paths },
        {
          ...fetched,
          program,
          allowDowngrade: options['allow-downgrade'],
          trustMachineStore: options['trust-machine'],
          ...(options['winhttp-proxy'] && {
            winHttpProxy: winHttpProxyOf(settings.proxies) ?? null,
          }),
        },
      );
    let nodeId = '';
    const askFor = async (judge: Judge): Promise<FetchedParts> => {
      nodeId = await findNodeId(paths.nodeId, settings.nodeId, before);
      return ask({ asked: settings, nodeId, paths }, options, task, judge);
    };
    const remote = { ...task, proofs: [agentProof(node)] };
    const outcome =
      settings.mode === 'remote'
        ? await changeNode(node, desiredWith, 'install', remote, askFor)
        : await changeNode(node, desiredWith, 'install', task);
    if (
      settings.mode === 'remote' &&
      ['installed', 'nothing'].includes(outcome.outcome) &&
      !task.isDryRun
    ) {
      try {
        await rememberJoined(paths, settings);
      } catch (error) {
        const lost = `"wins join --again" will not know these values: ${messageOf(error)}`;
        return { ...outcome, reason: `${outcome.reason}; ${lost}` };
      }
    }
    if (outcome.outcome !== 'rolledBack' || nodeId === '' || nodeId === before) return outcome;
    const next = `the server has a machine with the id ${nodeId} now. Set CATTLE_ID to join as this machine`;
    return { ...outcome, reason: `${outcome.reason}; ${next}` };
  });

export const runLeave: CommandHandler<NodeOptions> = (options, surroundings) =>
  reportNode(options, surroundings, async (task) => {
    const node = await nodeOf(options, localPaths());
    const outcome = await changeNode(node, () => leftInstallation(node.paths), 'keep', task);
    if (outcome.outcome !== 'installed') return outcome;
    return { ...outcome, outcome: 'left', reason: 'this node has left its server' };
  });

export const runUninstall = (
  options: UninstallOptions,
  { removeFeatures, ...surroundings }: CommandSurroundings & FeaturesOfDaemon,
): Promise<number> =>
  reportNode(options, surroundings, async (task) => {
    const node = await nodeOf(options, localPaths());
    const how = {
      adopts: options.adopt,
      keepsData: options['keep-data'],
      isForced: options.force,
      removeFeatures,
    };
    return removeNode(node, { paths: node.paths, service: SERVICE_NAME }, how, task);
  });

/** `wins suc`: keeps an installation up to date, as a job of the system-upgrade-controller. */
export const runSuc: CommandHandler<SucCommandOptions> = (options, surroundings) =>
  reportNode(options, surroundings, async (task) => {
    const rancherCompatible = options['rancher-compatible'];
    const settings = sucSettingsFromEnvironment(process.env, { rancherCompatible });
    const node = await nodeOf(options, settings.paths);
    const { paths } = node;
    const patience = { ...options, timeout: options.timeout ?? JOB_SERVER_MS };
    const program = await ownProgram(node);
    const desiredWith = (fetched: FetchedParts): DesiredInstallation =>
      desiredInstallationOfSuc({ ...settings, paths }, { ...fetched, program });
    if (settings.server === undefined) return changeNode(node, desiredWith, 'keep', task);
    const askFor = async (judge: Judge): Promise<FetchedParts> => {
      const nodeId = await readNodeId(paths.nodeId);
      if (nodeId !== undefined)
        return ask({ asked: settings, nodeId, paths }, patience, task, judge);
      const found = `there is no id of this node in ${paths.nodeId}: it has not joined a server`;
      throw new InstallError('refused', `cannot ask a server for this node: ${found}`);
    };
    const proofs = [agentProof(node)];
    return changeNode(node, desiredWith, 'keep', { ...task, proofs }, askFor);
  });

const LOCAL = { CATTLE_REMOTE_ENABLED: 'false', CATTLE_LOCAL_ENABLED: 'true' };
const SERVER_MS = 900_000;
/** Limit of one request. The controller's job has 600 s for three requests and for stopping, starting and checking the service. */
const JOB_SERVER_MS = 150_000;
const MAX_TOKEN_BYTES = 16 * 1024;
const localPaths = (): InstallPaths => settingsFromEnvironment({ ...process.env, ...LOCAL }).paths;

function nodeOf({ wait, debug }: NodeOptions, paths: InstallPaths): Promise<NodeParts> {
  const log = (line: string): void => {
    if (debug === true) process.stderr.write(line);
  };
  return composeNode(paths, { waitMs: wait, log });
}

/** Refuses a node that has joined a server, because the installation would cut it off. @throws InstallError `refused`. */
async function requireNoServer({ nodeId, connectionInfo }: InstallPaths): Promise<void> {
  const isJoined =
    (await readNodeId(nodeId)) !== undefined && (await readIfThere(connectionInfo)) !== undefined;
  if (!isJoined) return;
  const found = `this node has joined a server (${connectionInfo})`;
  const next = 'use "wins join" to reinstall it, or "wins leave" first';
  throw new InstallError('refused', `cannot install a standalone node: ${found}; ${next}`);
}

/** Returns this program, after checking its signature if the node's config requires one. @throws InstallError `refused`. */
async function ownProgram({ upgrade, signers }: NodeParts): Promise<StagedProgram> {
  const { ownFile, service } = upgrade;
  const signed = new SignedProgram();
  const options = { followLinks: true, onBlock: signed.take };
  const { sha256 } = await hashFile(ownFile, ['sha256'], options);
  const found = await signed.refuseByAll(await signers(await service.query(), {}));
  if (found !== undefined)
    throw new InstallError('refused', `cannot install this program: ${found}`);
  return { file: ownFile, sha256, version: VERSION };
}

/** @throws InstallError `refused`. */
function requireDigest(found: string, wanted: string | undefined): void {
  if (wanted === undefined || wanted === found) return;
  const message = `cannot install this program: found the SHA-256 digest ${found}; wanted ${wanted} (CATTLE_AGENT_BINARY_CHECKSUM)`;
  throw new InstallError('refused', message);
}

async function ask(
  { asked, nodeId, paths }: { asked: AskedSettings; nodeId: string; paths: InstallPaths },
  { 'allow-http': allowHttp, timeout, quiet }: ServerOptions & NodeOptions,
  { isDryRun, signal }: NodeTask,
  judge: Judge,
): Promise<FetchedParts> {
  const { server, token } = asked;
  if (server === undefined || token === undefined) return {};
  const onWarning = (message: string): void => {
    if (quiet !== true) process.stderr.write(`wins: ${escapeText(message)}\n`);
  };
  const settings = { allowHttp, onWarning, signal };
  return await askServer({ ...asked, server, token }, nodeId, {
    settings,
    isDryRun,
    judge,
    timeoutMs: timeout ?? SERVER_MS,
    known: await readIfThere(paths.connectionInfo),
  });
}

/** The token is in a file, because every process can read command lines. @throws InstallError `usage`. */
async function readToken(file: string): Promise<string> {
  const refused = (tried: string, found: string, cause?: unknown) =>
    new InstallError('usage', `cannot ${tried} --token-file ${quoteText(file)}: ${found}`, {
      cause,
    });
  const read = readBytes(file, { followLinks: true, maxBytes: MAX_TOKEN_BYTES });
  const decoded = decodeText(
    await read.catch((error: unknown) => {
      throw refused('read', foundIn(error), error);
    }),
  );
  if ('undecodable' in decoded)
    throw refused('read', `found ${decoded.undecodable}; wanted ${WANTED_TEXT}`);
  const token = decoded.text.trim();
  if (token !== '') return token;
  throw refused('use', 'the file is empty');
}
