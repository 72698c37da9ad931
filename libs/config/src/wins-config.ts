import type { StopRequest } from '@wins/base';

/** The effective, checked configuration, with all defaults. The comment of each property names its key in the file. */
export interface WinsConfig {
  /** `debug`: log at debug level. Default false. */
  readonly debug: boolean;
  /** `listen`: name of the gRPC pipe, never blank. Default `rancher_wins`. */
  readonly listen: string;
  /** `proxy`: name of the tunnel pipe, never blank. Default `rancher_wins_proxy`. */
  readonly proxy: string;
  /** `pipeAccess`: who may open the pipes on Windows, as SDDL; absent means administrators and SYSTEM. */
  readonly pipeAccess?: string;
  /** `processEnvironment`: variables that every run gets in addition to the minimal environment. Default: none. */
  readonly processEnvironment: Readonly<Record<string, string>>;
  /** `white_list`: allowed programs and reachable ports. Empty lists allow nothing. */
  readonly whiteList: WhiteList;
  /** `keep`: programs that the daemon starts by itself and keeps running. Default: none. */
  readonly keep: readonly KeptProgram[];
  /** `tunnel`: limits for clients of the tunnel pipe. */
  readonly tunnel: TunnelLimits;
  /** `routes`: destinations for which clients may change the host's routing table. */
  readonly routes: RouteGrants;
  /** `hostNetwork`: routes and a container network that the daemon maintains on the host; absent means none. */
  readonly hostNetwork?: HostNetworkSettings;
  /** `reflection`: list the services of the gRPC pipe for generic clients. Default false. */
  readonly reflection: boolean;
  /** `debugPipe`: answer diagnostic calls on the administrators' pipe, which exists in any case. Default true. */
  readonly debugPipe: boolean;
  /** `audit`: the log of allowed and refused requests. */
  readonly audit: AuditSettings;
  /** `metrics`: metrics for Prometheus; absent means off. */
  readonly metrics?: MetricsSettings;
  /** `tracing`: spans for the calls of clients that trace; absent means off. */
  readonly tracing?: TracingSettings;
  /** `upgrade`: self-upgrade from a watched file, and the accepted signers of upgrades. */
  readonly upgrade: UpgradeSettings;
  /** `systemagent`: the embedded system-agent; absent means off. */
  readonly systemAgent?: SystemAgentSettings;
  /** `csi-proxy`: the csi-proxy service to install; absent means none. */
  readonly csiProxy?: CsiProxySettings;
  /** `tls-config`: TLS of the csi-proxy download; absent means the system's trust store. */
  readonly tlsConfig?: TlsSettings;
  /** `agentStrictTLSMode`: the system-agent trusts only the CA from its settings. Default false. */
  readonly agentStrictTlsMode: boolean;
}

/** Programs and ports of the host that containers may use. */
export interface WhiteList {
  /** `processPaths`, in file order. Empty (the default) means that nothing may run. */
  readonly processPaths: readonly AllowedPath[];
  /** `proxyPorts`, each 1 to 65535, without repeats. Empty (the default) means no port. */
  readonly proxyPorts: readonly number[];
  /** `proxyUdpPorts`, each 1 to 65535, without repeats. Empty (the default) means no port. */
  readonly proxyUdpPorts: readonly number[];
}

/** One program that may run. */
export interface AllowedPath {
  /** The path as written: not blank and without control characters; otherwise not checked here. */
  readonly path: string;
  /** Accepted SHA-256 digests of the content, in lower-case hex; empty means not pinned. */
  readonly sha256: readonly string[];
  /** Variables that a client may set: names, prefixes with `*`, or `any`, which excludes the guarded ones. Empty (the default): none. */
  readonly envs: readonly string[] | 'any';
  /** Arguments a client may pass; absent means any. */
  readonly args?: ArgumentRules;
  /** Working directories that a client may choose, besides the program's own folder. Empty by default. */
  readonly directories: readonly string[];
  /** Callers that may run it: `administrators`, `user:UID`, `account:SID`, `container:…`. Absent: everyone; never empty. */
  readonly for?: readonly string[];
  /** Whether the program may deliberately leave processes behind on Windows; absent means no. */
  readonly mayBreakAway?: boolean;
  /** The program's argv[0]: the path of the verified copy, or `path`. Absent means `copy`. */
  readonly argv0?: 'copy' | 'listed';
  /** Signal that requests the end of a run; absent means SIGTERM, and on Windows an immediate end. */
  readonly stopSignal?: NonNullable<StopRequest['signal']>;
  /** On Windows, instead of `stopSignal`: the event that the program waits for. */
  readonly stopEvent?: string;
  /** Limits of a run for which the client requests none; absent means `maxLimits`. */
  readonly limits?: RunLimits;
  /** Maximum limits that a client may request; absent means `limits`. */
  readonly maxLimits?: RunLimits;
  /** Detached runs of the program; absent means none. */
  readonly lasting?: LastingRuns;
  /** Files that a client may send with a run; absent means none. */
  readonly files?: {
    /** 1 to 32. Default 8. */
    readonly max: number;
    /** Total bytes of all files, 1 to 768 KiB. Default 128 KiB. */
    readonly maxBytes: number;
  };
}

/** Limits of a run and all its processes; an absent limit does not apply. */
export interface RunLimits {
  readonly memoryBytes?: number;
  /** Processor time in processors, such as 0.5. */
  readonly cpus?: number;
  readonly pids?: number;
}

/** Runs of a program that outlive their client and the daemon. */
export interface LastingRuns {
  /** Default false. */
  readonly allow: boolean;
  /** Maximum number of runs, including ended ones, 1 to 1,024. Default 4; beyond it the run that ended first is removed. */
  readonly maxRuns: number;
  /** Maximum stored output per run, 1 MiB to 512 MiB. Default 64 MiB; beyond it the oldest output is removed. */
  readonly spoolBytes: number;
  /** Hours for which an ended run is kept, 1 to 8,760. Default 24. */
  readonly maxAgeHours: number;
  /** Whether a client may request a restart after the end of the run. Default false. */
  readonly restart: boolean;
}

/** A program that the daemon keeps running. */
export interface KeptProgram extends Pick<AllowedPath, 'path' | 'stopSignal' | 'stopEvent'> {
  /** Absent means the file name of the program. */
  readonly name?: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  /** Accepted SHA-256 digests of the content, in lower-case hex; absent means not pinned. */
  readonly sha256?: readonly string[];
  /** `always` (the default), `on-failure`, `on-failure:N` or `no`. */
  readonly restart: string;
  /** Absent means none. */
  readonly limits?: RunLimits;
}

/** No arguments, any, or exactly one of these lists. */
export type ArgumentRules = 'none' | 'any' | readonly (readonly ArgumentPattern[])[];

/** One argument: a literal word or a form; the form directly follows the text `after`. */
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
  /** Maximum number of clients at once, 1 to 1,024. Default 16; one container or user may have half, one is reserved. */
  readonly maxSessions: number;
  /** Maximum number of simultaneous TCP streams per client, 1 to 16,384. Default 1,024; only the excess stream is refused. */
  readonly maxStreams: number;
  /** Time-out of the handshake in milliseconds, at most 600,000. Default 5,000; then the connection is closed. */
  readonly handshakeTimeoutMs: number;
}

/** Changes that clients may make in the routing table of the host. */
export interface RouteGrants {
  /**
   * `allow`, without repeats: networks and addresses for which routes may be added and removed. Empty (the default)
   * means none. Each has a prefix of at least 8 bits and does not overlap loopback, link-local, multicast or reserved
   * addresses. Exception: a single address of 169.254.0.0/16.
   */
  readonly allow: readonly string[];
}

/** The `hostNetwork` section. */
export interface HostNetworkSettings {
  /** At most 1,000. */
  readonly routes: readonly HostRouteSettings[];
  /** Clouds whose metadata and platform addresses get routes; those of `rancher` lead to containers of this host. */
  readonly keep: readonly ('aws' | 'azure' | 'gce' | 'rancher')[];
  /** Rancher's metadata service, from which to learn of other hosts; absent: not used. */
  readonly metadata?: HostMetadataSettings | undefined;
  /** Whether to learn of other hosts from the agent's API server. Default false. */
  readonly nodes: boolean;
  /** A TCP port on other hosts for the doctor to test; absent: it tests none. */
  readonly probePort?: number | undefined;
  /** The network of this host's own containers, with a prefix of 16 to 29 bits; absent: none. */
  readonly subnet?: string | undefined;
  /** The host's own address in `subnet`. Absent: the first address. */
  readonly gateway?: string | undefined;
  /** Networks that must contain the peers' subnets, and that this host's containers may reach: 1 to 8; present whenever `subnet` is. */
  readonly cluster?: readonly string[] | undefined;
  /** Other hosts, each the next hop to its own containers; at most 1,000. */
  readonly peers: readonly HostPeerSettings[];
  /** Host ports that are relayed to containers; at most 512. */
  readonly ports: readonly HostPortSettings[];
}

/** Address of Rancher's metadata service, and the identity of this host there. */
export interface HostMetadataSettings {
  readonly hostUuid: string;
  readonly environmentUuid: string;
  /** A link-local or loopback address, optionally with a port. Default `169.254.169.250`. */
  readonly address: string;
  /** Required value of this host's label `router_ip` in the metadata; absent: any. */
  readonly routerIp?: string | undefined;
  /** Whether to relay ports that containers publish; requires `subnet`. Default false. */
  readonly ports: boolean;
}

/** The container network of another host, and the address of that host in a network that it shares with this host. */
export interface HostPeerSettings {
  readonly subnet: string;
  readonly via: string;
}

/** A port of the host that the daemon relays. */
export interface HostPortSettings {
  readonly proto: 'tcp' | 'udp';
  /** An IPv4 address and a port, such as `0.0.0.0:8080`. */
  readonly listen: string;
  /** The IPv4 address and port of a container. */
  readonly to: string;
  /** Whether `listen` may use a port that host services commonly use. Default false. */
  readonly allowReserved: boolean;
  /** Whether `to` may be the host itself. Default false. */
  readonly allowHost: boolean;
}

/** An IPv4 route that the daemon maintains. */
export interface HostRouteSettings {
  /** An address, or a network with a prefix of at least 8 bits; never the default route, loopback, multicast, or a link-local network. */
  readonly destination: string;
  /** Absent: the gateway of the default route. */
  readonly gateway?: string | undefined;
  /** Name of an interface; absent: the interface that reaches the gateway. */
  readonly interface?: string | undefined;
  /** 1 to 9,999. Default 256. */
  readonly metric: number;
}

/** The log of allowed and refused requests. */
export interface AuditSettings {
  /** Parent folder of the daemons' audit logs; each daemon uses a subfolder named after its pipe. Absent means a folder of the system. */
  readonly directory?: string;
  /** Maximum size of one file, 65,536 to 1,073,741,824 bytes. Default 8,388,608; beyond it a new file begins. */
  readonly maxFileBytes: number;
  /** Maximum number of files, 2 to 1,024. Default 16; beyond it the oldest is removed. */
  readonly maxFiles: number;
}

export interface MetricsSettings {
  /** `listen`: an IP address and a port; a loopback address unless `allowRemote` is set. */
  readonly listen: string;
  /** `allowRemote`: default false. */
  readonly allowRemote: boolean;
}

/** The `tracing` section. */
export interface TracingSettings {
  /** `endpoint`: the collector, an http or https address without user, password, query or fragment. */
  readonly endpoint: string;
}

/** Self-upgrade from a watched file, and the accepted signers of any upgrade. */
export interface UpgradeSettings {
  /** `mode`: default `none`; only an explicit `watching` turns it on. */
  readonly mode: 'none' | 'watching';
  /** `watchingPath`: default `c:/etc/rancher/wins/wins.exe` (elsewhere `/etc/rancher/wins/wins`). */
  readonly watchingPath: string;
  /** `signedBy`: 1 to 16 SHA-256 thumbprints, in lower-case hex, of certificates that sign upgrades. Absent: any program. */
  readonly signedBy?: readonly string[];
}

/** The `systemagent` section; its keys have the same names. Absent and empty paths are omitted. */
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
  /** Download address with a printf-style placeholder for the version. */
  readonly url: string;
  readonly version: string;
  readonly kubeletPath: string;
  /** Digest of the archive in lower-case hex; absent means the digest of the first download. */
  readonly sha256?: string;
  /** Additional arguments of the service. */
  readonly args?: readonly string[];
  /** Folder of the releases; absent means `csi-proxy` beside the config. */
  readonly path?: string;
}

/** The `tls-config` section. */
export interface TlsSettings {
  /** Absent when the file does not set it. */
  readonly insecure?: boolean;
  /** A PEM file of additional authorities; absent when the file does not set it. */
  readonly certFilePath?: string;
}
