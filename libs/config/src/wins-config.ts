import type { StopRequest } from '@wins/base';

/**
 * The effective configuration: complete (every default is filled in) and checked.
 *
 * Property names are camelCase; the key of the file that sets each one is given in its comment.
 */
export interface WinsConfig {
  /** `debug`: log at debug level. Default false. */
  readonly debug: boolean;
  /** `listen`: name of the gRPC pipe, never blank. Default `rancher_wins`. */
  readonly listen: string;
  /** `proxy`: name of the tunnel pipe, never blank. Default `rancher_wins_proxy`. */
  readonly proxy: string;
  /** `pipeAccess`: who may open the pipes on Windows, as SDDL; absent means administrators and SYSTEM. */
  readonly pipeAccess?: string;
  /** `processEnvironment`: variables that every run gets besides the minimal ones. Default: none. */
  readonly processEnvironment: Readonly<Record<string, string>>;
  /** `white_list`: what may run and which ports may be reached. Empty lists allow nothing. */
  readonly whiteList: WhiteList;
  /** `keep`: programs that the daemon starts by itself and keeps running. Default: none. */
  readonly keep: readonly KeptProgram[];
  /** `tunnel`: bounds on what clients of the tunnel pipe may use. */
  readonly tunnel: TunnelLimits;
  /** `routes`: what clients may change in the routing table of the host. */
  readonly routes: RouteGrants;
  /** `hostNetwork`: routes, and a network of containers, that the daemon keeps on the host; absent means none. */
  readonly hostNetwork?: HostNetworkSettings;
  /** `reflection`: tell generic clients of the gRPC pipe which services there are. Default false. */
  readonly reflection: boolean;
  /** `debugPipe`: answer diagnosis on the pipe of administrators, which is there in any case. Default true. */
  readonly debugPipe: boolean;
  /** `audit`: the record of what was allowed and refused. */
  readonly audit: AuditSettings;
  /** `metrics`: metrics for Prometheus; absent means off. */
  readonly metrics?: MetricsSettings;
  /** `tracing`: spans of the calls of clients that trace; absent means off. */
  readonly tracing?: TracingSettings;
  /** `upgrade`: the daemon being upgraded to a watched file, and whose programs are taken. */
  readonly upgrade: UpgradeSettings;
  /** `systemagent`: the embedded system-agent; absent means off. */
  readonly systemAgent?: SystemAgentSettings;
  /** `csi-proxy`: the csi-proxy service to install; absent means none. */
  readonly csiProxy?: CsiProxySettings;
  /** `tls-config`: TLS of the csi-proxy download; absent means the system's trust store. */
  readonly tlsConfig?: TlsSettings;
  /** `agentStrictTLSMode`: the system-agent trusts only the CA it was given. Default false. */
  readonly agentStrictTlsMode: boolean;
}

/** Programs and ports of the host that containers may use. */
export interface WhiteList {
  /** `processPaths`, in file order. Empty (the default) means that nothing may run. */
  readonly processPaths: readonly AllowedPath[];
  /** `proxyPorts`, each 1 to 65535, without repeats. Empty (the default) means no port. */
  readonly proxyPorts: readonly number[];
  /** `proxyUdpPorts`, the same for UDP. */
  readonly proxyUdpPorts: readonly number[];
}

/** One program that may run. */
export interface AllowedPath {
  /** The path as written: not blank, no control characters, otherwise not judged here. */
  readonly path: string;
  /** Lower-case hex SHA-256 digests, one of which the content must have; empty means not pinned. */
  readonly sha256: readonly string[];
  /**
   * Environment variables a client may set: names, or beginnings with a trailing `*`; or `any` but the guarded ones, which must
   * be named. Empty (the default) means none.
   */
  readonly envs: readonly string[] | 'any';
  /** Arguments a client may pass; absent means any. */
  readonly args?: ArgumentRules;
  /** Folders in which a client may have it run, besides its own. Empty by default. */
  readonly directories: readonly string[];
  /**
   * Callers who may run it: `administrators`, `user:UID`, `account:SID`, `container:ID` (or a beginning of 12 digits and `*`),
   * `container:*`. Absent means everyone who may open the pipe; never empty.
   */
  readonly for?: readonly string[];
  /** Whether it may leave processes behind on purpose on Windows; absent means no. */
  readonly mayBreakAway?: boolean;
  /** Name that the program gets as its own: the path of the verified copy, or `path`. Absent means `copy`. */
  readonly argv0?: 'copy' | 'listed';
  /** Signal that asks a run to end; absent means SIGTERM, and on Windows that the run is ended at once. */
  readonly stopSignal?: NonNullable<StopRequest['signal']>;
  /** On Windows, in the place of `stopSignal`: the event that the program waits for. */
  readonly stopEvent?: string;
  /** Limits of a run whose client asks for none; absent means `maxLimits`. */
  readonly limits?: RunLimits;
  /** The most that a client may ask for; absent means `limits`. */
  readonly maxLimits?: RunLimits;
  /** Its detached runs; absent means none. */
  readonly lasting?: LastingRuns;
  /** Files that a client may give to one run; absent means none. */
  readonly files?: {
    /** 1 to 32. Default 8. */
    readonly max: number;
    /** Bytes of all of them together, 1 to 768 KiB. Default 128 KiB. */
    readonly maxBytes: number;
  };
}

/** Bounds of a run and of all that it starts; an absent one does not bind. */
export interface RunLimits {
  readonly memoryBytes?: number;
  /** Processors' worth of time. */
  readonly cpus?: number;
  readonly pids?: number;
}

/** Runs of a program that outlive their client and the daemon. */
export interface LastingRuns {
  /** Default false. */
  readonly allow: boolean;
  /** Runs that are kept, living and ended ones, 1 to 1,024. Default 4; then the one that ended first goes. */
  readonly maxRuns: number;
  /** Output that is kept of each, 1 MiB to 512 MiB. Default 64 MiB; then the oldest goes. */
  readonly spoolBytes: number;
  /** How long an ended run is kept, 1 to 8,760. Default 24. */
  readonly maxAgeHours: number;
  /** Whether a client may have it started again when it has ended. Default false. */
  readonly restart: boolean;
}

/** A program that the daemon keeps running. */
export interface KeptProgram extends Pick<AllowedPath, 'path' | 'stopSignal' | 'stopEvent'> {
  /** Absent means the file name of its program. */
  readonly name?: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  /** Lower-case hex SHA-256 digests, one of which the content must have; absent means not pinned. */
  readonly sha256?: readonly string[];
  /** `always` (the default), `on-failure`, `on-failure:N` or `no`. */
  readonly restart: string;
  /** Absent means none. */
  readonly limits?: RunLimits;
}

/** No arguments, any, or exactly one of these lists. */
export type ArgumentRules = 'none' | 'any' | readonly (readonly ArgumentPattern[])[];

/** One argument: the word itself, or a form of it; `after` is text in front of the form. */
export type ArgumentPattern =
  | string
  | ({ readonly after?: string } & (
      | { readonly integer: { readonly min: number; readonly max: number } }
      | { readonly port: true }
      | { readonly pathUnder: string }
      | { readonly oneOf: readonly string[] }
    ));

/** Bounds on what clients of the tunnel pipe may use of the daemon. */
export interface TunnelLimits {
  /** Clients at a time, 1 to 1,024. Default 16; one more is turned away. One container or user gets half, one is for administrators. */
  readonly maxSessions: number;
  /** TCP streams of one client at a time, 1 to 16,384. Default 1,024; one more is refused, alone. */
  readonly maxStreams: number;
  /** From the connection to the end of the handshake, at most 600,000. Default 5,000; then it is cut. */
  readonly handshakeTimeoutMs: number;
}

/** Changes that clients may make in the routing table of the host. */
export interface RouteGrants {
  /**
   * `allow`, without repeats: networks (`10.42.0.0/16`) and addresses into which routes may be added and removed. Empty (the
   * default) means none. Each has a prefix of 8 bits or more and no part of loopback, link-local, multicast and reserved;
   * but one address of 169.254.0.0/16 by itself may be listed.
   */
  readonly allow: readonly string[];
}

/** The `hostNetwork` section. */
export interface HostNetworkSettings {
  /** At most 1,000. */
  readonly routes: readonly HostRouteSettings[];
  /** Clouds whose metadata and platform addresses keep their routes; those of `rancher` lead to own containers. */
  readonly keep: readonly ('aws' | 'azure' | 'gce' | 'rancher')[];
  /** Rancher's metadata service as a source of other hosts; absent: it is not asked. */
  readonly metadata?: HostMetadataSettings | undefined;
  /** Whether the API server of the agent is a source of other hosts. Default false. */
  readonly nodes: boolean;
  /** A TCP port of other hosts for the doctor; absent: it dials none. */
  readonly probePort?: number | undefined;
  /** The network of this host's own containers, of 16 to 29 bits; absent: none. */
  readonly subnet?: string | undefined;
  /** The address of the host in it. Absent: the first one. */
  readonly gateway?: string | undefined;
  /** Networks that subnets of peers lie in, and that own containers may reach: 1 to 8, and with `subnet` not absent. */
  readonly cluster?: readonly string[] | undefined;
  /** Other hosts, whose containers are reached through them; at most 1,000. */
  readonly peers: readonly HostPeerSettings[];
  /** Ports of the host that lead to containers; at most 512. */
  readonly ports: readonly HostPortSettings[];
}

/** Where Rancher's metadata service is, and which host this is for it. */
export interface HostMetadataSettings {
  readonly hostUuid: string;
  readonly environmentUuid: string;
  /** A link-local address or one of the loopback, with a port or without. Default `169.254.169.250`. */
  readonly address: string;
  /** The label that this host must have there; absent: any. */
  readonly routerIp?: string | undefined;
  /** Whether ports that containers publish are relayed; `subnet` is set then. Default false. */
  readonly ports: boolean;
}

/** The network of the containers of another host, and its address in a network that this host is in too. */
export interface HostPeerSettings {
  readonly subnet: string;
  readonly via: string;
}

/** A port of the host that the daemon relays. */
export interface HostPortSettings {
  readonly proto: 'tcp' | 'udp';
  /** An address of IPv4 and a port, such as `0.0.0.0:8080`. */
  readonly listen: string;
  /** The address of IPv4 and the port of a container. */
  readonly to: string;
  /** Whether `listen` may be a port that services of hosts use. Default false. */
  readonly allowReserved: boolean;
  /** Whether `to` may be the host itself. Default false. */
  readonly allowHost: boolean;
}

/** A route of IPv4 that the daemon keeps. */
export interface HostRouteSettings {
  /** A network of 8 bits or more, or an address: never the default route, loopback, multicast, or a link-local network. */
  readonly destination: string;
  /** Absent: that of the default route. */
  readonly gateway?: string | undefined;
  /** The name of an interface; absent: the one that reaches the gateway. */
  readonly interface?: string | undefined;
  /** 1 to 9,999. Default 256. */
  readonly metric: number;
}

/** The record of what was allowed and refused. */
export interface AuditSettings {
  /** Where daemons keep their logs, each in a folder named after its pipe; absent means a place of the system. */
  readonly directory?: string;
  /** A file that would become larger is followed by the next, 65,536 to 1,073,741,824. Default 8,388,608. */
  readonly maxFileBytes: number;
  /** Beyond so many the oldest is removed, 2 to 1,024. Default 16. */
  readonly maxFiles: number;
}

/** Metrics for Prometheus. */
export interface MetricsSettings {
  /** `listen`: an IP address and a port; one of the loopback unless `allowRemote`. */
  readonly listen: string;
  /** `allowRemote`: default false. */
  readonly allowRemote: boolean;
}

/** The `tracing` section. */
export interface TracingSettings {
  /** `endpoint`: the collector, with http or https and neither user, password, query nor fragment. */
  readonly endpoint: string;
}

/** Self-upgrade by a watched file, and whose programs any upgrade takes. */
export interface UpgradeSettings {
  /** `mode`: default `none`; only an explicit `watching` turns it on. */
  readonly mode: 'none' | 'watching';
  /** `watchingPath`: default `c:/etc/rancher/wins/wins.exe` (elsewhere `/etc/rancher/wins/wins`). */
  readonly watchingPath: string;
  /**
   * `signedBy`: SHA-256 thumbprints in lower-case hex, at most 16; an upgrade takes only programs that one of these certificates, or
   * one that was issued under it, has signed. Absent means any program; never empty.
   */
  readonly signedBy?: readonly string[];
}

/** The `systemagent` section; the keys have the same names. A path that is absent or empty is left out. */
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
  /** Download address with a printf-style place for the version. */
  readonly url: string;
  readonly version: string;
  readonly kubeletPath: string;
  /** The digest of the archive in lower-case hex; absent means that of the first download. */
  readonly sha256?: string;
  /** Arguments of the service besides its own. */
  readonly args?: readonly string[];
  /** The folder of the releases; absent means `csi-proxy` beside the config. */
  readonly path?: string;
}

/** The `tls-config` section. */
export interface TlsSettings {
  /** Absent when the file does not say. */
  readonly insecure?: boolean;
  /** A PEM file of extra authorities; absent when the file does not say. */
  readonly certFilePath?: string;
}
