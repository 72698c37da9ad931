/** Options that all commands about a node have. */
export interface NodeOptions {
  readonly 'dry-run': boolean;
  readonly wait?: number | undefined;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

/** Options of `wins install`. */
export interface InstallOptions extends NodeOptions {
  readonly adopt: boolean;
  readonly 'allow-downgrade': boolean;
  readonly 'delayed-start': boolean;
}

/** Options of `wins join`. */
export interface JoinOptions extends Omit<InstallOptions, 'adopt'>, ServerOptions {
  readonly server?: string | undefined;
  readonly 'ca-checksum'?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly worker: boolean;
  readonly label: readonly string[];
  readonly taint: readonly string[];
  readonly 'node-name'?: string | undefined;
  readonly address?: string | undefined;
  readonly 'internal-address'?: string | undefined;
  readonly 'strict-tls-verification': boolean;
  readonly 'trust-machine': boolean;
  readonly 'winhttp-proxy': boolean;
}

/** How a server is asked. */
export interface ServerOptions {
  readonly 'allow-http': boolean;
  readonly timeout?: number | undefined;
}

/** Options of `wins uninstall`. */
export interface UninstallOptions extends NodeOptions {
  readonly adopt: boolean;
  readonly 'keep-data': boolean;
  readonly force: boolean;
}

/** Options of `wins suc`. */
export interface SucCommandOptions extends NodeOptions, ServerOptions {
  readonly 'rancher-compatible': boolean;
}
