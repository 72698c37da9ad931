import { reporter, withDefaults, type Optional } from '@wins/base';
import type { Environment } from '@wins/net';
import type { FileTrust } from '@wins/trusted-files';
import type { Clock } from '../ports.js';
import { DEFAULT_IMAGE_LIMITS, type ImageLimits } from './checked-bytes.js';
import { CredentialProviders, type ProviderRun } from './provider/credential-providers.js';
import type { CredentialProviderPaths } from './provider/provider-config.js';
import type { FileSystemOs } from './unpack/entry-path.js';

/** Options of `imageStore`. */
export interface ImageStoreOptions {
  /** Folder of archives, searched first if the reference has no digest. May be missing. */
  readonly imagesDirectory: string;
  /** Only the first existing file counts. */
  readonly registriesFiles: readonly string[];
  /** Docker's `config.json`, whose `auths` are the last source of credentials. */
  readonly dockerConfigFile?: string | undefined;
  /** Paths of the programs that supply credentials if `registries.yaml` has none for a registry. Default: no programs. */
  readonly credentialProviders?: CredentialProviderPaths | undefined;
  /** Called before each run of a credential provider, to record it. A rejection prevents the run. */
  readonly onProvider?: ((run: ProviderRun) => Promise<void>) | undefined;
  /** In Go's terms, such as `windows` and `amd64`. `os` also decides which file names are valid. */
  readonly platform: { readonly os: FileSystemOs; readonly arch: string };
  /** Unpacks only this folder, such as `Files/bin`, and skips Microsoft's base layers for Windows. Default: the root. */
  readonly subtree?: string | undefined;
  /** Refuses configuration files and credential providers that others can write to, because these decide which code is fetched. */
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  readonly clock: Clock;
  /** Uses `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in Go's format, and `SSL_CERT_FILE`. */
  readonly environment: Environment;
  /** Bounds of an image and its unpacked content. See `ImageLimits` for the defaults. */
  readonly limits?: Optional<ImageLimits> | undefined;
  /** Reports a retried registry or an ignored part of a file; the work continues. */
  readonly onWarning: (message: string) => unknown;
}

export interface StoreParts extends ImageStoreOptions {
  readonly limits: ImageLimits;
  readonly providers: CredentialProviders | undefined;
}

export function storeParts(options: ImageStoreOptions): StoreParts {
  const { credentialProviders: paths, trust, clock, environment, onProvider: onRun } = options;
  return {
    ...options,
    onWarning: reporter(options.onWarning),
    limits: withDefaults(DEFAULT_IMAGE_LIMITS, options.limits),
    providers: paths && new CredentialProviders({ paths, trust, clock, environment, onRun }),
  };
}
