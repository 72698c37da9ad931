import type { Environment } from '@wins/net';
import type { FileTrust } from '@wins/trusted-files';
import type { Clock } from '../ports.js';
import { DEFAULT_IMAGE_LIMITS, type ImageLimits } from './image-limits.js';
import { CredentialProviders, type ProviderRun } from './provider/credential-providers.js';
import type { CredentialProviderPlace } from './provider/provider-config.js';
import type { FileSystemOs } from './unpack/entry-path.js';

/** Where images come from, and what of them is wanted. Paths are absolute. */
export interface ImageStoreOptions {
  /** Archives in it are looked into first, by tag. Need not exist. */
  readonly imagesDirectory: string;
  /** The first that exists says which registries there are: see {@link registriesFiles}. */
  readonly registriesFiles: readonly string[];
  /** Docker's `config.json`, of which `auths` is read: credentials for hosts that nothing else has any for. */
  readonly dockerConfigFile?: string;
  /** Asked for credentials that `registries.yaml` does not have. Default: none. */
  readonly credentialProviders?: CredentialProviderPlace;
  /** Resolves once the run of a credential provider is recorded; when it rejects, the program does not run. Default: nothing is recorded. */
  readonly onProvider?: (run: ProviderRun) => Promise<void>;
  /** In Go's words: `windows` and `amd64`. Its names of files decide what may be unpacked. */
  readonly platform: { readonly os: FileSystemOs; readonly arch: string };
  /**
   * The part of an image that becomes the root of the folder: `Files/bin` on Windows, where the layers of Microsoft's base image are not fetched then.
   * Default: the whole image.
   */
  readonly subtree?: string;
  /** Files that others can write to are not used: code comes from there. */
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  readonly clock: Clock;
  /** Names the proxies between here and registries by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as Go reads them, and the file of the system's authorities. */
  readonly environment: Environment;
  readonly limits?: Partial<ImageLimits>;
  /** A registry that is asked again, or a part of a file that is not used; it goes on. */
  readonly onWarning: (message: string) => void;
}

/** The options with all limits, and with what is kept from one image to the next. */
export interface StoreParts extends ImageStoreOptions {
  readonly limits: ImageLimits;
  readonly providers: CredentialProviders | undefined;
}

export function storeParts(options: ImageStoreOptions): StoreParts {
  const { credentialProviders: place, trust, clock, environment, onProvider: onRun } = options;
  return {
    ...options,
    limits: { ...DEFAULT_IMAGE_LIMITS, ...options.limits },
    providers: place && new CredentialProviders({ place, trust, clock, environment, onRun }),
  };
}
