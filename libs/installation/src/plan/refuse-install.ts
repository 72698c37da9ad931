import { quoteText } from '@wins/base';
import semver from 'semver';
import { isListAlone, stateIn, type FolderFacts, type NodeFacts } from '../facts/node-facts.js';
import { followsServer, type DesiredInstallation } from '../desired/desired-installation.js';
import { NODE_ID } from '../desired/read-variables.js';
import { folderOf } from '../item/item.js';
import { refuse, type Refusal } from './plan.js';

export function validNodeId(text: string | undefined): string | undefined {
  const id = text?.trim();
  return id !== undefined && NODE_ID.test(id) ? id : undefined;
}

export const refuseInstall = (
  facts: NodeFacts,
  desired: DesiredInstallation,
): Refusal | undefined =>
  refuseService(facts, desired) ??
  refusePaths(facts, desired) ??
  refuseProgram(facts, desired) ??
  refuseConnection(facts, desired);

function refuseService(
  facts: NodeFacts,
  { service: name }: DesiredInstallation,
): Refusal | undefined {
  if (facts.isServiceBeingRemoved) {
    const next = 'close the programs that show services, or restart the node';
    return refuse(`the service ${name} is marked for removal; ${next}`);
  }
  const service = stateIn(facts, { kind: 'service', name });
  if (service?.startType === 'disabled')
    return refuse(`the service ${name} is disabled: once stopped, it could not be started again`);
  if (service !== undefined && facts.program === undefined)
    return refuse(`the command line of the service ${name} names no program`);
  return undefined;
}

/** Whether correcting the access list makes the folder safe. */
export function isMendable(facts: NodeFacts, folder: string): boolean {
  const { distrust, strangers } = facts.folders.get(folder) ?? { strangers: [] };
  return distrust !== undefined && isListAlone(distrust, folder) && strangers.length === 0;
}

function refusePaths(facts: NodeFacts, { paths }: DesiredInstallation): Refusal | undefined {
  const own = [paths.configFolder, paths.dataFolder, paths.programFolder];
  // The service uses these paths too, so other users must not be able to change the content.
  const others = [
    paths.config,
    paths.nodeId,
    ...(facts.program ? [folderOf(facts.program.path, facts.platform)] : []),
  ];
  // All programs of the machine, including system services, search for executables in these folders.
  const elements = paths.morePathElements.filter(
    (path) => stateIn(facts, { kind: 'pathElement', path }) === undefined,
  );
  for (const folder of [...own, ...others, ...elements]) {
    const found = facts.folders.get(folder);
    if (found?.distrust === undefined) continue;
    if (own.includes(folder) && isMendable(facts, folder)) continue;
    return refuseFolder(folder, found);
  }
  return undefined;
}

export function refuseFolder(folder: string, { distrust, strangers }: FolderFacts): Refusal {
  const { path = folder, found = 'nobody knows', remedy } = distrust ?? {};
  const shown = strangers.slice(0, 3).map((each) => quoteText(each));
  const inIt = shown.length === 0 ? [] : [`others own or can change ${shown.join(', ')}`];
  const wanted = 'wanted a path that only administrators can change';
  const parts = [`${quoteText(path)}: ${found}`, ...inIt, wanted, remedy].filter(Boolean);
  return refuse(`others could change ${quoteText(folder)}: ${parts.join('; ')}`);
}

function refuseProgram(facts: NodeFacts, desired: DesiredInstallation): Refusal | undefined {
  const { program, paths } = desired;
  const there = facts.program
    ? stateIn(facts, { kind: 'program', path: facts.program.path })
    : stateIn(facts, { kind: 'file', path: paths.program });
  if (program === undefined) {
    if (there !== undefined) return undefined;
    return refuse('there is no program on this node to install');
  }
  const installed = facts.program?.version;
  if (there === undefined || there.sha256 === program.sha256 || desired.allowDowngrade === true)
    return undefined;
  const flag = 'use --allow-downgrade to accept it';
  const down = (found: string): Refusal => refuse(`${found}; ${flag}`);
  if (installed === undefined) return undefined;
  if (program.version === installed)
    return down(`the release ${installed} is already installed with another digest`);
  const isComparable = semver.valid(program.version) !== null && semver.valid(installed) !== null;
  if (isComparable && semver.gt(program.version, installed)) return undefined;
  const how = isComparable ? 'is older than' : 'cannot be compared with';
  return down(
    `the release ${quoteText(program.version)} ${how} the installed ${quoteText(installed)}`,
  );
}

function refuseConnection(facts: NodeFacts, desired: DesiredInstallation): Refusal | undefined {
  const { paths, config = {}, connectionInfo, nodeId, authorities } = desired;
  const has = (path: string): boolean => stateIn(facts, { kind: 'file', path }) !== undefined;
  if (followsServer(desired) && connectionInfo === undefined && !has(paths.connectionInfo)) {
    const reason = 'a node that follows a server needs connection info from the server';
    return refuse(reason);
  }
  const hasAuthorities = authorities === undefined ? has(paths.authorities) : authorities !== null;
  if (config['agentStrictTLSMode'] === true && !hasAuthorities)
    return refuse(
      'strict TLS trusts only configured authorities, and there are none. Set CATTLE_CA_CHECKSUM, or STRICT_VERIFY=false',
    );
  const own = validNodeId(facts.nodeId);
  if (typeof nodeId === 'string' && own !== undefined && nodeId !== own) {
    const reason = `this node has the id ${own} and would become another machine with ${quoteText(nodeId)}`;
    return refuse(`${reason}. Run "wins leave" first`);
  }
  return undefined;
}
