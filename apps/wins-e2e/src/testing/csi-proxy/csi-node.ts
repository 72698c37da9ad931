import { startRancher, type RancherDouble } from '@wins/rancher-client/testing';
import { tarOf } from '@wins/system-agent/testing';
import type { HealthStatus } from '@wins/wins-api/contract';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWins, startProgram, type Outcome } from '../built-program.js';
import { commandValues } from '../commands/command-json.js';
import { Daemon } from '../daemon.js';
import { healthOf } from '../health-of.js';
import { standIn } from '../packages/package-folder.js';
import { Workspace } from '../workspace.js';
import { csiProgram, CsiService } from './csi-service.js';

/** A secret in the download URL of csi-proxy. */
export const CANARY = 'canary-of-a-signature';

interface Status {
  readonly on: boolean;
  readonly state: string;
  readonly detail: string;
  readonly failure?: { readonly code: string };
  readonly wanted?: { readonly version: string };
}

/** A node whose daemon downloads and manages csi-proxy. */
export class CsiNode implements AsyncDisposable {
  readonly workspace = new Workspace();
  readonly service = new CsiService(this.workspace.path('csi-service'));
  readonly home = this.workspace.path('csi-proxy');
  #daemon: Daemon | undefined;

  private constructor(
    readonly server: RancherDouble,
    readonly keys: object,
  ) {}

  /** @param versions - Content of the program on the server, by version. */
  static async start(
    versions: Readonly<Record<string, string>>,
    keys: object = {},
  ): Promise<CsiNode> {
    const assets: Record<string, Buffer> = {};
    for (const [version, mark] of Object.entries(versions)) {
      const program = { name: 'bin/csi-proxy.exe', content: csiProgram(mark) };
      assets[`csi-proxy-${version}.tar.gz`] = gzipSync(await tarOf([program]));
    }
    return new CsiNode(await startRancher({ token: 'unused', assets }), keys);
  }

  get daemon(): Daemon {
    if (this.#daemon === undefined) throw new Error('the daemon was not started');
    return this.#daemon;
  }

  get environment(): NodeJS.ProcessEnv {
    return { ...this.workspace.environment, WINS_CSI_PROXY_SERVICE: this.service.folder };
  }

  config(section: object | undefined, tls: object = this.trusted()): string {
    const url = `${this.server.url}/assets/csi-proxy-%[1]s.tar.gz?sig=${CANARY}`;
    const csi = { url, kubeletPath: '/var/lib/kubelet/kubelet.exe', ...section };
    return this.workspace.config([], {
      ...(section && { 'csi-proxy': csi }),
      'tls-config': tls,
      ...this.keys,
    });
  }

  trusted(): object {
    return { certFilePath: this.workspace.write('ca.pem', `junk\n${this.server.ca}`) };
  }

  async run(config: string): Promise<Daemon> {
    this.#daemon = Daemon.of(
      startProgram(
        process.execPath,
        [standIn('wins.cjs'), 'srv', 'app', 'run', '--config', config],
        this.environment,
      ),
    );
    await this.#daemon.ready();
    return this.#daemon;
  }

  wins(...words: string[]): Promise<Outcome> {
    const file = this.workspace.path('config');
    return runWins([...words, '--config', file], this.environment, standIn('wins.cjs'));
  }

  async status(): Promise<Status> {
    const { stdout } = await this.wins('srv', 'csi-proxy', 'status', '-o', 'json');
    const [status] = commandValues('srv csi-proxy status', [JSON.parse(String(stdout))]);
    return status as Status;
  }

  async reached(state: string, detail = /./): Promise<void> {
    await this.daemon.logged(
      (record) => record['state'] === state && detail.test(JSON.stringify(record)),
    );
  }

  health(service: string): Promise<HealthStatus> {
    return healthOf(path.join(this.workspace.runtimeDirectory, 'rancher_wins'), service);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    await this.service.stop();
    await this.server.close();
    this.workspace[Symbol.dispose]();
  }
}
