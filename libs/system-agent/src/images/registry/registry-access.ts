import type { Environment } from '@wins/net';
import type { FileTrust } from '@wins/trusted-files';
import type { Clock } from '../../ports.js';
import type { ImageLimits } from '../image-limits.js';
import { CredentialProviders } from '../provider/credential-providers.js';
import type { CredentialProviderPlace } from '../provider/provider-config.js';
import {
  loginOfDocker,
  loginOfRegistries,
  readDockerConfig,
  type DockerConfig,
  type Login,
} from './credentials.js';
import type { Endpoint } from './endpoints.js';
import { HostConnections } from './host-connections.js';
import { readRegistries, type FoundRegistries } from './registries-file.js';
import { RegistrySession } from './registry-session.js';

/** How registries are found and asked. Paths are absolute. */
export interface RegistryOptions {
  /** The first that exists says which registries there are: see {@link registriesFiles}. */
  readonly registriesFiles: readonly string[];
  /** Docker's `config.json`, of which `auths` is read: credentials for hosts that nothing else has any for. */
  readonly dockerConfigFile?: string;
  /** Asked for credentials that `registries.yaml` does not have. Default: none. */
  readonly credentialProviders?: CredentialProviderPlace;
  /** What others can write to is not used: code comes from there. */
  readonly trust: Pick<FileTrust, 'distrustOfFile'>;
  readonly clock: Clock;
  /** A registry that is asked again, or a part of a file that is not used; it goes on. */
  readonly onWarning: (message: string) => void;
  /**
   * Names the proxies between here and registries by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as Go reads them. Default: that of the process.
   */
  readonly environment?: Environment;
}

/** The same with the providers themselves, which keep what they were answered. */
export interface RegistryParts extends RegistryOptions {
  readonly providers: CredentialProviders | undefined;
}

/** Makes what is kept from one image to the next. */
export function registryParts<Options extends RegistryOptions>(
  options: Options,
): Options & RegistryParts {
  const { credentialProviders: place, trust, clock, environment = process.env } = options;
  const providers = place && new CredentialProviders({ place, trust, clock, environment });
  return { ...options, providers };
}

/** The registries of a node, as its files say now. Whoever opens it closes it. */
export class RegistryAccess implements Disposable {
  readonly found: FoundRegistries;
  readonly connections: HostConnections;
  readonly #docker: DockerConfig;
  readonly #providers: CredentialProviders | undefined;
  readonly #limits: ImageLimits;
  readonly #signal: AbortSignal;

  private constructor(options: RegistryParts, { found, docker, limits, signal }: OpenParts) {
    const { trust, clock, onWarning, environment = process.env } = options;
    const { registries } = found;
    this.#providers = options.providers;
    this.#limits = limits;
    this.#signal = signal;
    this.#docker = docker;
    this.found = found;
    this.connections = new HostConnections({
      ...{ environment, registries, trust, limits, clock, onWarning, signal },
    });
    for (const warning of found.warnings) onWarning(warning);
  }

  /** @throws AgentError `imageFailed` for a file that cannot be read, or that others can write to. */
  static async open(
    options: RegistryParts,
    limits: ImageLimits,
    signal: AbortSignal,
  ): Promise<RegistryAccess> {
    const { trust, dockerConfigFile } = options;
    const found = await readRegistries(options.registriesFiles, trust);
    const docker =
      dockerConfigFile === undefined ? {} : await readDockerConfig(dockerConfigFile, trust);
    return new RegistryAccess(options, { found, docker, limits, signal });
  }

  /** Begins to ask one place for an image. */
  session(endpoint: Endpoint): RegistrySession {
    const { connections } = this;
    const [limits, signal] = [this.#limits, this.#signal];
    const findLogin = () => this.findLogin(endpoint);
    return new RegistrySession({ endpoint, connections, findLogin, limits, signal });
  }

  /** Who the agent is to a registry: by `registries.yaml`, else by a credential provider, else by Docker's file. @throws AgentError `imageFailed`. */
  async findLogin({ base, repository }: Endpoint): Promise<Login | undefined> {
    const own = loginOfRegistries(base, this.found.registries);
    if (own !== undefined) return own;
    const host = base.host === 'index.docker.io' ? 'docker.io' : base.host;
    const provided = await this.#providers?.find(`${host}/${repository}`, this.#signal);
    return provided ?? loginOfDocker(base, this.#docker);
  }

  close(): void {
    this.connections.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

interface OpenParts {
  readonly found: FoundRegistries;
  readonly docker: DockerConfig;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
}
