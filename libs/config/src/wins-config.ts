import type { SignerRule, StopRequest, TreeLimits } from '@wins/base';

/**
 * The checked config, with all defaults; {@link configKeys} lists them. A property has the name of its key in the file, unless its comment names
 * the key.
 */
export interface WinsConfig {
  /** Log at debug level. */
  readonly debug: boolean;
  /** Name of the gRPC pipe, never blank. */
  readonly listen: string;
  /** Name of the tunnel pipe, never blank. */
  readonly proxy: string;
  /** SDDL: who may open the pipes on Windows. Absent: administrators and SYSTEM. */
  readonly pipeAccess?: string;
  /** Variables for every run, in addition to the minimal environment. */
  readonly processEnvironment: Readonly<Record<string, string>>;
  /** Key `white_list`: allowed programs and reachable ports. */
  readonly whiteList: WhiteList;
  /** Programs that the daemon starts and keeps running. */
  readonly keep: readonly KeptProgram[];
  readonly tunnel: TunnelLimits;
  /** Destinations for which clients may change the host's routing table. */
  readonly routes: RouteGrants;
  /** Routes and a container network that the daemon maintains on the host. Absent: none. */
  readonly hostNetwork?: HostNetworkSettings;
  /** List the services of the gRPC pipe for generic clients. */
  readonly reflection: boolean;
  /** Answer diagnostic calls on the pipe of administrators. */
  readonly debugPipe: boolean;
  readonly audit: AuditSettings;
  /** Metrics for Prometheus. Absent: off. */
  readonly metrics?: MetricsSettings;
  readonly upgrade: UpgradeSettings;
  /** Key `systemagent`: the embedded agent. Absent: off. */
  readonly systemAgent?: SystemAgentSettings;
  /** Key `csi-proxy`: the service to install. Absent: none. */
  readonly csiProxy?: CsiProxySettings;
  /** Key `tls-config`: TLS of the csi-proxy download. Absent: the system's trust store. */
  readonly tlsConfig?: TlsSettings;
  /** Key `agentStrictTLSMode`: the system-agent trusts only the CA from its settings. */
  readonly agentStrictTlsMode: boolean;
}

/** Programs and ports of the host that containers may use. */
export interface WhiteList {
  /** In file order. Empty: nothing may run. */
  readonly processPaths: readonly AllowedPath[];
  /** TCP ports, without repeats. Empty: none. */
  readonly proxyPorts: readonly number[];
  /** UDP ports, without repeats. Empty: none. */
  readonly proxyUdpPorts: readonly number[];
}

/** One program that may run. */
export interface AllowedPath {
  /** Path as written: not blank, without control characters. Not checked any further here. */
  readonly path: string;
  /** Accepted SHA-256 digests of the content, in lower-case hex. Empty: any content. */
  readonly sha256: readonly string[];
  /**
   * Variables that a client may set: names, prefixes with `*`, or `any`. A variable that can change what programs
   * load must be listed by its exact name. Empty: none.
   */
  readonly envs: readonly string[] | 'any';
  /** Arguments that a client may pass. Absent: any. */
  readonly args?: ArgumentRules;
  /** Working folders that a client may choose, besides the program's own. */
  readonly directories: readonly string[];
  /** Callers that may run it: `administrators`, `user:UID`, `account:SID`, `container:…`. Absent: everyone. Never empty. */
  readonly for?: readonly string[];
  /** Whether the program may leave processes behind on Windows. Absent: no. */
  readonly mayBreakAway?: boolean;
  /** Choice of argv[0]: `copy` is the path of the verified copy; `listed` is the value of `path`. */
  readonly argv0?: 'copy' | 'listed';
  /** Signal to end a run. Absent: SIGTERM, but on Windows no signal: the run is killed at once. */
  readonly stopSignal?: NonNullable<StopRequest['signal']>;
  /** Windows event to end a run, instead of `stopSignal`. */
  readonly stopEvent?: string;
  /** Limits of a run when the client requests none. A limit missing here is taken from `maxLimits`. A limit missing in both does not apply. */
  readonly limits?: TreeLimits;
  /** Maximum limits that a client may request. A maximum missing here is taken from `limits`. If both lack it, any valid value is accepted. */
  readonly maxLimits?: TreeLimits;
  /** Detached runs. Absent: none. */
  readonly detached?: DetachedRuns;
  /** Files that a client may send with a run. Absent: none. */
  readonly files?: {
    /** 1 to 32. */
    readonly max: number;
    /** Total size of all files, 1 byte to 768 KiB. */
    readonly maxBytes: number;
  };
}

/** Runs of a program that outlive their client and the daemon. */
export interface DetachedRuns {
  /** Whether a client may leave a run of this program. */
  readonly allow: boolean;
  /** Maximum number of runs, ended ones included: 1 to 1,024. At the maximum, a start removes the run that ended first. */
  readonly maxRuns: number;
  /** Maximum stored output per run, 1 MiB to 512 MiB. At the maximum, the oldest output is removed. */
  readonly spoolBytes: number;
  /** 1 to 8,760. */
  readonly maxAgeHours: number;
  /** Restarts that a client may request. Absent: none. */
  readonly restart?: RestartBackoff & {
    readonly allow: boolean;
  };
}

/** Delays and number of restarts. */
export interface RestartBackoff {
  /** First delay, 1 to 86,400,000; each failure in a row doubles it. */
  readonly delayMs: number;
  /** Longest delay, 1 to 86,400,000, at least `delayMs`. */
  readonly maxDelayMs: number;
  /** Failed restarts in a row after which the run is given up, from 1. Absent: as many as the policy allows. */
  readonly giveUpAfter?: number;
}

export interface KeptProgram extends Pick<AllowedPath, 'path' | 'stopSignal' | 'stopEvent'> {
  /** Default: the file name of the program. */
  readonly name?: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  /** Same as in {@link AllowedPath}. Absent: any content. */
  readonly sha256?: readonly string[];
  readonly restart: RestartBackoff & {
    /** `always`, `on-failure`, `on-failure:N` or `no`. */
    readonly policy: string;
  };
  readonly limits?: TreeLimits;
}

/** Permitted arguments: none, any, or exactly one of the complete lists in the array. */
export type ArgumentRules = 'none' | 'any' | readonly (readonly ArgumentPattern[])[];

/**
 * One argument: a literal word, or a rule for its value. With `after`, the argument begins with this literal text, such as
 * `--port=`, and the value follows.
 */
export type ArgumentPattern =
  | string
  | ({ readonly after?: string } & (
      | { readonly integer: { readonly min: number; readonly max: number } }
      | { readonly port: true }
      | { readonly pathUnder: string }
      | { readonly oneOf: readonly string[] }
    ));

/** Limits for clients of the tunnel pipe. */
export interface TunnelLimits {
  /** Maximum number of sessions at a time, 1 to 1,024. One client may have half; one session is reserved for administrators. */
  readonly maxSessions: number;
  /** Maximum number of TCP streams of one session at a time, 1 to 16,384. Further streams are refused. */
  readonly maxStreams: number;
  /** At most 600,000. When it expires, the daemon closes the connection. */
  readonly handshakeTimeoutMs: number;
}

/** Changes that clients may make in the routing table of the host. */
export interface RouteGrants {
  /**
   * Networks to which clients may add and remove routes. Repeats are left out. Each has a prefix of at least 8 bits,
   * and contains no loopback, link-local, multicast or reserved address. Exception: single addresses of 169.254.0.0/16 are allowed.
   */
  readonly allow: readonly string[];
}

/** The `hostNetwork` section. */
export interface HostNetworkSettings {
  /** At most 1,000. */
  readonly routes: readonly HostRouteSettings[];
  /** Clouds whose metadata and platform addresses get routes. The routes of `rancher` lead to containers of this host. */
  readonly keep: readonly ('aws' | 'azure' | 'gce' | 'rancher')[];
  /** Rancher's metadata service, which lists other hosts. Absent: not used. */
  readonly metadata?: HostMetadataSettings | undefined;
  /** The nodes of a cluster, as other hosts. Absent: not read. In the file, `true` and `false` stand for `enabled`. */
  readonly nodes?: HostNodesSettings | undefined;
  /** TCP port that `wins doctor` tests on each other host. Absent: none. */
  readonly probePort?: number | undefined;
  /** Network of this host's containers, with a prefix of 16 to 29 bits. Absent: none. */
  readonly subnet?: string | undefined;
  /** The host's address in `subnet`. Default: the first address. */
  readonly gateway?: string | undefined;
  /** 1 to 8 networks that must contain the peers' subnets, and that this host's containers may reach. Required with `subnet`. */
  readonly cluster?: readonly string[] | undefined;
  /** Other hosts, at most 1,000. Each is the next hop to its own containers. */
  readonly peers: readonly HostPeerSettings[];
  /** Relayed ports, at most 512. */
  readonly ports: readonly HostPortSettings[];
}

/** Address of Rancher's metadata service, and the identity of this host there. */
export interface HostMetadataSettings {
  readonly hostUuid: string;
  readonly environmentUuid: string;
  /** Link-local or loopback, with or without a port. */
  readonly address: string;
  /** Required value of this host's label `router_ip`. Absent: any. */
  readonly routerIp?: string | undefined;
  /** Whether to relay ports that containers publish. Requires `subnet`. */
  readonly ports: boolean;
}

/** The cluster whose nodes are other hosts. */
export interface HostNodesSettings {
  /** Whether the cluster's nodes get routes. */
  readonly enabled: boolean;
  /** File with the access to the cluster. Absent: the system agent's connection. */
  readonly kubeconfig?: string | undefined;
}

/** Container network of another host, and the address of that host in a network that both hosts share. */
export interface HostPeerSettings {
  readonly subnet: string;
  readonly via: string;
}

/** A port of the host that the daemon relays. */
export interface HostPortSettings {
  readonly proto: 'tcp' | 'udp';
  /** Such as `0.0.0.0:8080`. */
  readonly listen: string;
  /** Address and port of a container. */
  readonly to: string;
  /** Whether `listen` may be a port that host services commonly use. */
  readonly allowReserved: boolean;
  /** Whether `to` may be the host itself. */
  readonly allowHost: boolean;
}

/** An IPv4 route that the daemon maintains. */
export interface HostRouteSettings {
  /** An address, or a network with a prefix of at least 8 bits. Never the default route, loopback, multicast, or a link-local network. */
  readonly destination: string;
  /** Default: the gateway of the default route. */
  readonly gateway?: string | undefined;
  /** Default: the interface that reaches the gateway. */
  readonly interface?: string | undefined;
  /** 1 to 9,999. */
  readonly metric: number;
}

/** The log of allowed and refused requests. */
export interface AuditSettings {
  /** Parent folder. Each daemon uses a subfolder named after its pipe. Absent: a folder of the system. */
  readonly directory?: string;
  /** 65,536 to 1,073,741,824. A larger file is closed, and a new one begins. */
  readonly maxFileBytes: number;
  /** 2 to 1,024. When there are more files, the oldest is removed. */
  readonly maxFiles: number;
}

export interface MetricsSettings {
  /** IP address and port. Loopback, unless `allowRemote` is set. */
  readonly listen: string;
  /** Whether `listen` may be an address that other hosts reach. */
  // Unread: the schema reads it, to judge `listen`.
  readonly allowRemote: boolean;
}

/** Self-upgrade from a watched file, and the accepted signers of any upgrade. Without `signedBy`, upgrades need no signature. */
export interface UpgradeSettings extends Partial<SignerRule> {
  /** `watching` installs a program that is placed at `watchingPath`. */
  readonly mode: 'none' | 'watching';
  /** Absolute path of the program to install. */
  readonly watchingPath: string;
}

/** The `systemagent` section. An empty path in the file counts as absent. */
export interface SystemAgentSettings {
  readonly localEnabled: boolean;
  readonly remoteEnabled: boolean;
  readonly preserveWorkDirectory: boolean;
  readonly workDirectory?: string;
  readonly localPlanDirectory?: string;
  readonly appliedPlanDirectory?: string;
  readonly connectionInfoFile?: string;
  readonly imagesDirectory?: string;
  readonly agentRegistriesFile?: string;
  readonly imageCredentialProviderConfig?: string;
  readonly imageCredentialProviderBinDirectory?: string;
  readonly interlockDirectory?: string;
}

/** The `csi-proxy` section: `url`, `version` and `kubeletPath` are required and not blank. */
export interface CsiProxySettings {
  /** Download address, with a printf placeholder for the version. */
  readonly url: string;
  readonly version: string;
  readonly kubeletPath: string;
  /** SHA-256 of the archive, in lower-case hex. If absent, later downloads of a version must have the digest of its first download. */
  readonly sha256?: string;
  readonly args?: readonly string[];
  /** Folder of the releases. Absent: `csi-proxy` beside the config. */
  readonly path?: string;
}

/** The `tls-config` section. */
export interface TlsSettings {
  readonly insecure?: boolean;
  /** PEM file of additional authorities. */
  readonly certFilePath?: string;
}
