import type { TlsSettings } from '@wins/config';
import type { Download } from '@wins/rancher-client';
import type { Clock } from '@wins/time';
import type { FileTrust } from '@wins/trusted-files';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Decision } from '../../kernel/audit/decision.js';
import type { CsiProxyState } from './decide/component-state.js';
import type { ServiceCommand } from './decide/install-record.js';

export interface ServiceFacts {
  /** Absolute path and arguments of the program; undefined when the command line names no program. */
  readonly command: ServiceCommand | undefined;
  readonly isRunning: boolean;
  readonly isDisabled: boolean;
}

/** Service manager for the csi-proxy service. Implementations make no decisions. */
export interface CsiProxyService {
  readonly name: string;
  query(): Promise<ServiceFacts | undefined>;
  /** Registers the service with automatic start under the SYSTEM account. It must not exist. */
  create(command: ServiceCommand): Promise<void>;
  /** Changes the command of the service in one durable step. A running process continues unchanged. */
  setCommand(command: ServiceCommand): Promise<void>;
  /** Starts the service, and resolves once its process exists. No error if it already runs. */
  start(): Promise<void>;
  /** Stops the service from any state, and kills its process after `graceMs`, because csi-proxy keeps running when its service stops. */
  stop(graceMs: number): Promise<void>;
  /** Ends processes that still run this program, because a csi-proxy that outlived an earlier stop keeps the pipes. */
  endLeftovers(program: string): Promise<void>;
  /** Removes the registration of a stopped service. No error if there is none. */
  remove(): Promise<void>;
  /** Returns true when any process serves the pipe `csi-proxy-filesystem-v1`. */
  isServing(): Promise<boolean>;
}

export interface KeeperOptions {
  /** Absolute path of the folder with the installation record; it is created with, or must have, private permissions. */
  readonly stateFolder: string;
  readonly service: CsiProxyService;
  /** @throws when a download cannot be created, for example because a file of authorities is missing. */
  readonly downloadFor: (trust: TlsSettings) => Promise<Download>;
  readonly trust: FileTrust;
  readonly clock: Clock;
  /** Resolves once the action is recorded; a rejection cancels the action. */
  readonly onAct: (act: Decision) => Promise<void> | undefined;
  readonly onState: (state: CsiProxyState) => void;
  readonly onWarning: (message: string) => void;
  /** Path where the Go release of wins installs csi-proxy; a service with this program is adopted. Default: no such path. */
  readonly goProgram?: string;
  /** Whether removal also covers a service that runs `goProgram`, and that file. Default: both stay. */
  readonly removesGo?: boolean;
  /** Expected first bytes of a program. Default: `MZ`. */
  readonly programMagic?: Uint8Array;
  /** Time after which csi-proxy, which never ends by itself, is killed. Default: 5,000 ms. */
  readonly graceMs?: number;
}

/** Why csi-proxy cannot run on this system, if so. Specs replace it before first use (docs/adr/0048-ship-no-test-doubles.md). */
export const csiProxyHost: { lacks: string | undefined } = {
  lacks: process.platform === 'win32' ? undefined : 'csi-proxy is for Windows nodes only',
};

/** Returns the folder in which a daemon with this config records its installation. */
export function stateFolderOf(configFile: string): string {
  return path.join(path.dirname(path.resolve(configFile)), 'csi-proxy');
}

export function hasRecord(stateFolder: string): boolean {
  return existsSync(path.join(stateFolder, 'state.json'));
}
