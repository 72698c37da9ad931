import type { JudgedValue, WinsConfig } from '@wins/config';
import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import { TrustedFileError, type Distrust, type FileTrust } from '@wins/trusted-files';
import {
  ADMINISTRATORS_AND_SYSTEM,
  adminPipeOf,
  errnoOf,
  judgePipeAccess,
  quoteText,
} from '@wins/base';
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { JudgingOptions } from '../kernel/judging-options.js';
import { daemonFolders, pipeFolder } from './daemon-folders.js';

type PipeKey = 'listen' | 'proxy';
const KEYS = ['listen', 'proxy'] as const satisfies readonly PipeKey[];
const NAME = 'NAME, npipe:////./pipe/NAME, \\\\.\\pipe\\NAME or the path of a socket';

export function judgePipes(config: WinsConfig, options: JudgingOptions): readonly JudgedValue[] {
  const { platform, host } = options;
  const addresses = new Map<PipeKey, string>();
  const faults: JudgedValue[] = [];
  const judged = (keyPath: PipeKey, fault: string, expected = NAME): void => {
    const found = `${quoteText(config[keyPath])}: ${fault}`;
    faults.push({ severity: 'error', keyPath, found, expected });
  };
  const resolve = (keyPath: PipeKey, name: string, intro = ''): string | undefined => {
    const resolved = addressOf(name, options);
    if ('address' in resolved) return resolved.address;
    judged(keyPath, `${intro}${resolved.fault}`);
    return undefined;
  };
  for (const keyPath of KEYS) {
    const address = resolve(keyPath, config[keyPath]);
    if (address !== undefined) addresses.set(keyPath, address);
  }
  const { listen } = config;
  const own = addresses.has('listen')
    ? resolve('listen', adminPipeOf(listen), 'the name of its pipe for administrators: ')
    : undefined;
  const tunnel = addresses.get('proxy');
  if (tunnel !== undefined && faults.length === 0) {
    const taken = new Map([
      [addresses.get('listen'), 'the pipe that "listen" names'],
      [own, "the daemon's own pipe for administrators"],
      ...daemonFolders(config, options).map(({ folder, what }) => [folder, what] as const),
    ]);
    const same = [...taken].find(
      ([other]) => other !== undefined && isSame(other, tunnel, platform),
    );
    if (same !== undefined) judged('proxy', same[1], 'another pipe name');
  }
  if (host !== undefined && platform !== 'win32' && faults.length === 0)
    for (const [keyPath, address] of addresses) {
      const fault =
        nameFault(address) ??
        (config[keyPath] === address ? folderFault(address, host.trust) : undefined);
      if (fault !== undefined)
        judged(keyPath, fault, 'a socket in a folder that no one else can write');
    }
  return [...faults, ...judgeAccess(config, options)];
}

function addressOf(
  name: string,
  options: JudgingOptions,
): { readonly address: string } | { readonly fault: string } {
  try {
    return resolvePipePath(name, { platform: options.platform, runtimeDir: pipeFolder(options) });
  } catch (error) {
    if (!(error instanceof PipeError)) throw error;
    return { fault: error.found ?? 'not a pipe name' };
  }
}

function isSame(one: string, other: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? one.toLowerCase() === other.toLowerCase() : one === other;
}

function nameFault(address: string): string | undefined {
  try {
    const there = lstatSync(address, { throwIfNoEntry: false });
    return there === undefined || there.isSocket()
      ? undefined
      : 'a file that is not a socket is there';
  } catch {
    // `folderFault` judges the folder.
    return undefined;
  }
}

/** Returns why a socket's folder keeps a daemon from serving the socket. Callers skip bare pipe names, because the host chooses their folder. */
function folderFault(address: string, trust: FileTrust): string | undefined {
  const folder = path.posix.dirname(address);
  try {
    // The daemon creates this folder, but none above it.
    lstatSync(path.posix.dirname(folder));
    const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
    const distrust = isThere
      ? trust.distrustOfFolder(folder)
      : trust.distrustOfPrivateFolder(folder);
    return distrust && describeDistrust(distrust);
  } catch (error) {
    const code = error instanceof TrustedFileError ? error.code : errnoOf(error);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    return isMissing ? `its folder ${quoteText(folder)} does not exist` : undefined;
  }
}

export function describeDistrust(distrust: Distrust): string {
  const { path: at, found, remedy } = distrust;
  return [`${quoteText(at)}: ${found}`, remedy].filter(Boolean).join('; ');
}

function judgeAccess({ pipeAccess }: WinsConfig, { host }: JudgingOptions): readonly JudgedValue[] {
  if (pipeAccess === undefined) return [];
  const keyPath = 'pipeAccess';
  const { fault = host?.pipeAccessFault(pipeAccess), doubts } = judgePipeAccess(pipeAccess);
  const about = (found: string): string => `${quoteText(pipeAccess, { maxLength: 300 })}: ${found}`;
  if (fault !== undefined) {
    const expected = `SDDL such as ${ADMINISTRATORS_AND_SYSTEM}`;
    return [{ severity: 'error', keyPath, found: about(fault), expected }];
  }
  return doubts.map((doubt) => ({
    severity: 'warning',
    code: 'doubtful',
    keyPath,
    found: about(doubt),
    expected: 'SYSTEM, administrators, single services and single accounts, by their SIDs',
    nextStep: 'remove that entry from pipeAccess: every client of a pipe controls the host',
  }));
}
