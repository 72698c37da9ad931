import { SERVICE_NAME } from '@wins/base';
import type { Item, StateOf } from '../item/item.js';
import {
  type EnvironmentWish,
  readPlaces,
  readServer,
  type ServerWish,
} from './environment-wish.js';
import { dataFolders, type InstallPlaces } from './install-places.js';
import { Secret } from './secret.js';
import { Variables } from './read-variables.js';

/** New values by key path, for `editConfig` of `@wins/config`. Null removes a key. */
export type ConfigChanges = Readonly<
  Record<string, string | number | boolean | readonly string[] | null>
>;

export interface StagedProgram {
  readonly file: string;
  readonly sha256: string;
  readonly version: string;
}

/** `proxy` is `host:port`; `bypass` is a list, separated by `;`. */
export type WinHttpProxy = StateOf<'winHttpProxy'>;

/** Undefined leaves a part unchanged; null removes it. */
export interface InstallWish {
  readonly places: InstallPlaces;
  readonly service: string;
  readonly program?: StagedProgram;
  /** True to accept an older release, a release that cannot be compared, or the same release with another digest. */
  readonly allowDowngrade?: boolean;
  readonly config?: ConfigChanges;
  /** PEM, with certificates only. */
  readonly authorities?: string | null;
  readonly trustMachineStore?: boolean;
  /** Content of `rancher2_connection_info.json`. */
  readonly connectionInfo?: Secret | null;
  /** Written when the node has no valid id. */
  readonly nodeId?: string | null;
  readonly startType?: 'automatic' | 'delayed';
  readonly isRke2Dependent?: boolean;
  /** Other variables of the service stay. */
  readonly environment?: Readonly<Record<string, Secret | null>>;
  readonly winHttpProxy?: WinHttpProxy | null;
}

export const RKE2_SERVICE = 'rke2';

/** Downloaded and verified parts. Authorities are null when the server needs none. */
export type FetchedParts = Omit<
  InstallWish,
  'places' | 'service' | 'config' | 'startType' | 'isRke2Dependent' | 'environment'
>;

export function installWish(wish: EnvironmentWish, fetched: FetchedParts): InstallWish {
  return { ...fetched, ...wishOf(wish), config: configOf(wish, fetched) };
}

export const wishOf = ({
  places,
  isDelayedStart,
  proxies,
}: Pick<EnvironmentWish, 'places' | 'isDelayedStart' | 'proxies'>): InstallWish => ({
  ...{ places, service: SERVICE_NAME },
  ...(isDelayedStart !== undefined && { startType: isDelayedStart ? 'delayed' : 'automatic' }),
  ...(Object.keys(proxies).length > 0 && { environment: proxies }),
});

function configOf(wish: EnvironmentWish, { authorities }: FetchedParts): ConfigChanges {
  const { places, mode, isStrictTls, csiProxy } = wish;
  return {
    'systemagent.workDirectory': places.workFolder,
    'systemagent.appliedPlanDirectory': places.appliedFolder,
    'systemagent.remoteEnabled': mode === 'remote',
    'systemagent.localEnabled': mode === 'local',
    'systemagent.preserveWorkDirectory': wish.preservesWorkDirectory,
    'systemagent.connectionInfoFile': places.connectionInfo,
    ...(isStrictTls !== undefined && { agentStrictTLSMode: isStrictTls }),
    ...tlsConfig(places, authorities),
    ...(csiProxy !== undefined && {
      'csi-proxy.url': csiProxy.url,
      'csi-proxy.version': csiProxy.version,
      'csi-proxy.kubeletPath': csiProxy.kubeletPath,
    }),
  };
}

export function tlsConfig(places: InstallPlaces, authorities: string | null | undefined) {
  if (authorities === undefined) return {};
  return authorities === null
    ? { 'tls-config': null }
    : { 'tls-config.certFilePath': places.authorities };
}

/** The path is quoted, because Windows splits an unquoted path at each space and tries the shorter paths first. */
export function newService({ places, startType }: InstallWish): StateOf<'service'> {
  const command = `"${places.program}" srv app run --config "${places.config}"`;
  return { command, startType: startType ?? 'automatic' };
}

/** `program` is the program that the service runs now. */
export function itemsOfWish(wish: InstallWish, program: string | undefined): readonly Item[] {
  const { places, service } = wish;
  const own = [places.configFolder, places.dataFolder, places.programFolder];
  const files = [places.config, places.authorities, places.nodeId, places.connectionInfo];
  const elements = [places.programFolder, ...places.morePathElements];
  return [
    ...own.map((path): Item => ({ kind: 'folder', path })),
    ...dataFolders(places).map((path): Item => ({ kind: 'folder', path, isData: true })),
    ...[...files, places.program].map((path): Item => ({ kind: 'file', path })),
    ...(program === undefined ? [] : [{ kind: 'program', path: program } as const]),
    ...elements.map((path): Item => ({ kind: 'pathElement', path })),
    ...(wish.winHttpProxy === undefined ? [] : [{ kind: 'winHttpProxy' } as const]),
    { kind: 'eventSource', name: service },
    ...[service, RKE2_SERVICE].flatMap((name): Item[] => [
      { kind: 'service', name },
      { kind: 'running', service: name },
    ]),
    ...Object.keys(wish.environment ?? {}).map((name): Item => ({
      kind: 'variable',
      service,
      name,
    })),
    { kind: 'dependency', service: RKE2_SERVICE, on: service },
  ];
}

/** Changes that a job of the system-upgrade controller requests. A field that is undefined leaves its setting unchanged. */
export interface SucWish extends ServerWish {
  readonly places: InstallPlaces;
  readonly isDebug: boolean | undefined;
  readonly isDelayedStart: boolean | undefined;
  readonly isRke2Dependent: boolean | undefined;
  readonly skipsProgram: boolean;
  readonly allowDowngrade: boolean;
}

export interface SucOptions {
  /**
   * True to read unset switches as false, like the Go release. If false, an unset switch leaves its setting unchanged.
   * An unset `STRICT_VERIFY` leaves its setting unchanged in both cases.
   */
  readonly rancherCompatible?: boolean;
  readonly platform?: NodeJS.Platform;
}

/** @throws InstallError `usage`; the message names the variable. */
export function sucWishFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { rancherCompatible = false, platform = process.platform }: SucOptions = {},
): SucWish {
  const variables = new Variables(environment);
  const unset = rancherCompatible ? false : undefined;
  const asked = readServer(variables);
  const [missing, other] =
    asked.server === undefined
      ? ['CATTLE_SERVER', 'CATTLE_TOKEN']
      : ['CATTLE_TOKEN', 'CATTLE_SERVER'];
  if ((asked.server === undefined) !== (asked.token === undefined))
    throw variables.refuse(missing, 'no value', `values for it and for ${other}, or for neither`);
  return {
    ...asked,
    isDebug: variables.flag('CATTLE_WINS_DEBUG') ?? unset,
    isDelayedStart: variables.flag('CATTLE_ENABLE_WINS_DELAYED_START') ?? unset,
    isRke2Dependent: variables.flag('CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY') ?? unset,
    skipsProgram: variables.flag('CATTLE_WINS_SKIP_BINARY_UPGRADE') ?? false,
    allowDowngrade: variables.flag('CATTLE_WINS_ALLOW_DOWNGRADE') ?? false,
    places: readPlaces(variables, platform),
  };
}

export function installWishOfSuc(wish: SucWish, fetched: FetchedParts): InstallWish {
  const { places, isDebug, isStrictTls, isRke2Dependent, skipsProgram, allowDowngrade } = wish;
  const { program, ...parts } = fetched;
  return {
    ...{ ...parts, ...wishOf(wish), allowDowngrade },
    ...(program !== undefined && !skipsProgram && { program }),
    config: {
      ...(isDebug !== undefined && { debug: isDebug }),
      ...(isStrictTls !== undefined && { agentStrictTLSMode: isStrictTls }),
      ...tlsConfig(places, parts.authorities),
    },
    ...(isRke2Dependent !== undefined && { isRke2Dependent }),
  };
}
