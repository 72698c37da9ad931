import type { ConfigChanges } from './config-changes.js';
import { SERVICE_NAME } from '@wins/base';
import type { Item, StateOf } from '../item/item.js';
import {
  type EnvironmentSettings,
  readPaths,
  readServer,
  type ServerSettings,
} from './environment-settings.js';
import { dataFolders, type InstallPaths } from './install-paths.js';
import { Secret } from './secret.js';
import { Variables } from './read-variables.js';

const FOLLOWS_SERVER = 'systemagent.remoteEnabled';

/** A verified program file that an installation copies to its final path. */
export interface StagedProgram {
  readonly file: string;
  /** In lower-case hexadecimal digits. */
  readonly sha256: string;
  readonly version: string;
}

/** `proxy` is `host:port`; `bypass` is a list, separated by `;`. */
export type WinHttpProxy = StateOf<'winHttpProxy'>;

/** Undefined leaves a part unchanged; null removes it. */
export interface DesiredInstallation {
  readonly paths: InstallPaths;
  readonly service: string;
  readonly program?: StagedProgram | undefined;
  /** True to accept an older release, a release that cannot be compared, or the same release with another digest. */
  readonly allowDowngrade?: boolean | undefined;
  readonly config?: ConfigChanges | undefined;
  /** PEM, with certificates only. */
  readonly authorities?: string | null | undefined;
  /** True to also add the authorities to the machine's root store. */
  readonly trustMachineStore?: boolean | undefined;
  /** Content of `rancher2_connection_info.json`. */
  readonly connectionInfo?: Secret | null | undefined;
  /** Written when the node has no valid id. */
  readonly nodeId?: string | null | undefined;
  readonly startType?: 'automatic' | 'delayed' | undefined;
  readonly isRke2Dependent?: boolean | undefined;
  /** Other variables of the service stay. */
  readonly environment?: Readonly<Record<string, Secret | null>> | undefined;
  readonly winHttpProxy?: WinHttpProxy | null | undefined;
}

/** Undoes the membership of a node: without its connection, authorities and id. Strict TLS needs an authority, and the next server may have none. */
export function leftInstallation(paths: InstallPaths): DesiredInstallation {
  return {
    paths,
    service: SERVICE_NAME,
    connectionInfo: null,
    nodeId: null,
    authorities: null,
    config: { [FOLLOWS_SERVER]: false, 'tls-config': null, agentStrictTLSMode: null },
  };
}

/** Whether the config lets the node follow a server. */
export function followsServer({ config = {} }: DesiredInstallation): boolean {
  return config[FOLLOWS_SERVER] === true;
}

export const RKE2_SERVICE = 'rke2';

/** Downloaded and verified parts. Authorities are null when the server needs none. */
export type FetchedParts = Omit<
  DesiredInstallation,
  'paths' | 'service' | 'config' | 'startType' | 'isRke2Dependent' | 'environment'
>;

/** Combines the settings of the environment with the downloaded parts. Pure. */
export function desiredInstallation(
  settings: EnvironmentSettings,
  fetched: FetchedParts,
): DesiredInstallation {
  return { ...fetched, ...desiredOf(settings), config: configOf(settings, fetched) };
}

export const desiredOf = ({
  paths,
  isDelayedStart,
  proxies,
}: Pick<EnvironmentSettings, 'paths' | 'isDelayedStart' | 'proxies'>): DesiredInstallation => ({
  paths,
  service: SERVICE_NAME,
  ...(isDelayedStart !== undefined && { startType: isDelayedStart ? 'delayed' : 'automatic' }),
  ...(Object.keys(proxies).length > 0 && { environment: proxies }),
});

function configOf(settings: EnvironmentSettings, { authorities }: FetchedParts): ConfigChanges {
  const { paths, mode, isStrictTls, sections } = settings;
  return {
    'systemagent.workDirectory': paths.workFolder,
    'systemagent.appliedPlanDirectory': paths.appliedFolder,
    [FOLLOWS_SERVER]: mode === 'remote',
    'systemagent.localEnabled': mode === 'local',
    'systemagent.preserveWorkDirectory': settings.preservesWorkDirectory,
    'systemagent.connectionInfoFile': paths.connectionInfo,
    ...(isStrictTls !== undefined && { agentStrictTLSMode: isStrictTls }),
    ...tlsConfig(paths, authorities),
    ...sections,
  };
}

export function tlsConfig(paths: InstallPaths, authorities: string | null | undefined) {
  if (authorities === undefined) return {};
  return authorities === null
    ? { 'tls-config': null }
    : { 'tls-config.certFilePath': paths.authorities };
}

/** The path is quoted, because Windows splits an unquoted path at each space and tries the shorter paths first. */
export function newService({ paths, startType }: DesiredInstallation): StateOf<'service'> {
  const command = `"${paths.program}" srv app run --config "${paths.config}"`;
  return { command, startType: startType ?? 'automatic' };
}

/** `program` is the program that the service runs now. */
export function itemsOfInstallation(
  desired: DesiredInstallation,
  program: string | undefined,
): readonly Item[] {
  const { paths, service } = desired;
  const own = [paths.configFolder, paths.dataFolder, paths.programFolder];
  const files = [paths.config, paths.authorities, paths.nodeId, paths.connectionInfo];
  const elements = [paths.programFolder, ...paths.morePathElements];
  return [
    ...own.map((path): Item => ({ kind: 'folder', path })),
    ...dataFolders(paths).map((path): Item => ({ kind: 'folder', path, isData: true })),
    ...[...files, paths.program].map((path): Item => ({ kind: 'file', path })),
    ...(program === undefined ? [] : [{ kind: 'program', path: program } as const]),
    ...elements.map((path): Item => ({ kind: 'pathElement', path })),
    ...(desired.winHttpProxy === undefined ? [] : [{ kind: 'winHttpProxy' } as const]),
    { kind: 'eventSource', name: service },
    ...[service, RKE2_SERVICE].flatMap((name): Item[] => [
      { kind: 'service', name },
      { kind: 'running', service: name },
    ]),
    ...Object.keys(desired.environment ?? {}).map((name): Item => ({
      kind: 'variable',
      service,
      name,
    })),
    { kind: 'dependency', service: RKE2_SERVICE, on: service },
  ];
}

/** Changes that a job of the system-upgrade controller requests. A field that is undefined leaves its setting unchanged. */
export interface SucSettings extends ServerSettings {
  readonly paths: InstallPaths;
  readonly isDebug: boolean | undefined;
  readonly isDelayedStart: boolean | undefined;
  readonly isRke2Dependent: boolean | undefined;
  /** True to change the settings without replacing the program. */
  readonly skipsProgram: boolean;
  readonly allowDowngrade: boolean;
}

/** Options of {@link sucSettingsFromEnvironment}. */
export interface SucOptions {
  /**
   * True to read unset switches as false, like the Go release. If false, an unset switch leaves its setting unchanged.
   * An unset `STRICT_VERIFY` leaves its setting unchanged in both cases.
   */
  readonly rancherCompatible?: boolean | undefined;
  /** Platform of the default paths. Default: `process.platform`. */
  readonly platform?: NodeJS.Platform | undefined;
}

/**
 * Reads the settings of a job of the system-upgrade controller from its environment variables.
 * @throws InstallError `usage`; the message names the variable.
 */
export function sucSettingsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { rancherCompatible = false, platform = process.platform }: SucOptions = {},
): SucSettings {
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
    paths: readPaths(variables, platform),
  };
}

/** Combines the settings of a job of the system-upgrade controller with the downloaded parts. Pure. */
export function desiredInstallationOfSuc(
  settings: SucSettings,
  fetched: FetchedParts,
): DesiredInstallation {
  const { paths, isDebug, isStrictTls, isRke2Dependent, skipsProgram, allowDowngrade } = settings;
  const { program, ...parts } = fetched;
  return {
    ...parts,
    ...desiredOf(settings),
    allowDowngrade,
    ...(program !== undefined && !skipsProgram && { program }),
    config: {
      ...(isDebug !== undefined && { debug: isDebug }),
      ...(isStrictTls !== undefined && { agentStrictTLSMode: isStrictTls }),
      ...tlsConfig(paths, parts.authorities),
    },
    ...(isRke2Dependent !== undefined && { isRke2Dependent }),
  };
}
