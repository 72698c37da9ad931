import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { startRancher, type RancherDouble } from '@wins/rancher-client/testing';
import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import type { CertificateAuthority } from '@wins/base/testing';
import { startProgram, type Outcome, type RunningProgram } from '../built-program.js';
import { nodeRelease } from './node-release.js';
import { Workspace } from '../workspace.js';

/** A registration token, which must not appear in any argument, log, record, message or file. */
export const CANARY = 'canary-of-a-token-0123456789';

export interface Said {
  readonly outcome: string;
  readonly reason: string;
  readonly steps?: readonly string[];
  readonly kept?: readonly string[];
  readonly recovered?: string;
  readonly pending?: { readonly outcome: string; readonly steps: readonly string[] };
}

/** Substitute for a Windows registry. */
export interface StandIn {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command: string;
        readonly startType: string;
        readonly dependencies: readonly string[];
        readonly environment: Readonly<Record<string, string>>;
      }
    >
  >;
  /** PATH elements and event sources, by name. */
  readonly things: Readonly<Record<string, { readonly state: unknown }>>;
}

export interface Cluster extends AsyncDisposable {
  readonly rancher: RancherDouble;
  readonly api: ApiServer;
  readonly variables: NodeJS.ProcessEnv;
}

/** Starts a Rancher double, which directs nodes to an API server with an empty plan. With `plain`, neither server uses TLS. */
export async function startCluster({
  plain = false,
  authority,
}: { readonly plain?: boolean; readonly authority?: CertificateAuthority } = {}): Promise<Cluster> {
  const common = { plain, ...(authority && { authority }) };
  const api = await startApiServer(common);
  const rancher = await startRancher({ token: CANARY, names: ['rancher.invalid'], ...common });
  rancher.connectionInfo = JSON.parse(api.connectionInfo()) as unknown;
  api.create({ plan: '{}' });
  return {
    rancher,
    api,
    get variables() {
      const { url, checksum } = rancher;
      return { CATTLE_SERVER: url, CATTLE_TOKEN: CANARY, CATTLE_CA_CHECKSUM: checksum };
    },
    [Symbol.asyncDispose]: async () => {
      await rancher.close();
      await api.close();
    },
  };
}

/** A node in its own folder. A release installs itself there. Daemons outlive the commands that start them. */
export class NodeWorld implements AsyncDisposable {
  readonly workspace = new Workspace();
  readonly root = this.workspace.path('node');
  readonly runtimeDirectory = path.join(this.root, 'run');
  readonly config = this.path('etc/rancher/wins/config');
  readonly nodeId = this.path('etc/rancher/wins/cattle-id');
  readonly authorities = this.path('etc/rancher/wins/ranchercert');
  readonly connectionInfo = this.path('var/lib/rancher/agent/rancher2_connection_info.json');
  readonly program = this.path('usr/local/bin/wins');
  readonly stateFolder = this.path('var/lib/wins-install');
  readonly journal = path.join(this.stateFolder, 'journal.jsonl');
  readonly manifest = path.join(this.stateFolder, 'install-manifest.json');

  readonly release = nodeRelease(this.workspace);

  constructor() {
    mkdirSync(this.root, { mode: 0o755 });
  }

  path(...names: string[]): string {
    return path.join(this.root, ...names);
  }

  /** Starts `program` without the shell's variables for proxies, Rancher and csi-proxy. */
  start(
    args: readonly string[],
    variables: NodeJS.ProcessEnv = {},
    program = this.release,
  ): RunningProgram {
    const { environment } = this.workspace;
    const plain = Object.entries(environment).filter(
      ([name]) => !/^(CATTLE_|STRICT_|CSI_|.*_PROXY$)/i.test(name),
    );
    return startProgram(program, args, {
      ...Object.fromEntries(plain),
      WINS_NODE_ROOT: this.root,
      WINS_RUNTIME_DIR: this.runtimeDirectory,
      ...variables,
    });
  }

  wins(args: readonly string[], variables?: NodeJS.ProcessEnv, program?: string): Promise<Outcome> {
    return this.start(args, variables, program).outcome;
  }

  async say(
    args: readonly string[],
    variables?: NodeJS.ProcessEnv,
    program?: string,
  ): Promise<Said & { readonly code: number | null; readonly stderr: string }> {
    const { code, stdout, stderr } = await this.wins([...args, '-o', 'json'], variables, program);
    try {
      return { ...(JSON.parse(String(stdout)) as Said), code, stderr };
    } catch (error) {
      throw new Error(`found ${String(stdout)} and ${stderr}`, { cause: error });
    }
  }

  get pid(): number | undefined {
    const file = path.join(this.runtimeDirectory, 'rancher-wins.pid');
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[0]) : 0;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return /\) Z /.test(stat) ? undefined : pid || undefined;
    } catch {
      return undefined;
    }
  }

  get log(): string {
    return this.text(path.join(this.runtimeDirectory, 'rancher-wins.log'));
  }

  get system(): StandIn {
    const file = this.path('system.json');
    const found = existsSync(file) ? (JSON.parse(this.text(file)) as Partial<StandIn>) : {};
    return { services: {}, things: {}, ...found };
  }

  get service(): StandIn['services'][string] | undefined {
    return this.system.services['rancher-wins'];
  }

  text(file: string): string {
    return readFileSync(file, 'utf8');
  }

  async serves(): Promise<boolean> {
    return (await this.wins(['cli', 'app', 'info'])).code === 0;
  }

  /** Waits until the daemon answers. */
  async version(): Promise<string> {
    for (;;) {
      const { code, stdout } = await this.wins(['cli', 'app', 'info', '-o', 'json']);
      if (code === 0)
        return (JSON.parse(String(stdout)) as { Server: { Version: string } }).Server.Version;
    }
  }

  /**
   * Returns the mode and content hash of each path below the root. The extra key `system` holds the registry substitute as JSON. Skips files that a
   * running daemon writes.
   */
  snapshot(): Record<string, string> {
    const names = existsSync(this.root) ? readdirSync(this.root, { recursive: true }) : [];
    const entries = names
      .map(String)
      .filter(
        (name) =>
          !/^(run|node\.lock|system\.json|\.system\.json\.\w+\.tmp)(\/|$)|\/(work|applied)\/|\.upgrade(\/|$)/.test(
            name,
          ),
      )
      .sort()
      .map((name) => {
        const file = this.path(name);
        const { mode } = lstatSync(file);
        const content = lstatSync(file).isSymbolicLink()
          ? readlinkSync(file)
          : lstatSync(file).isFile()
            ? createHash('sha256').update(readFileSync(file)).digest('hex')
            : '';
        return [name, `${(mode & 0o7777).toString(8)} ${content}`.trim()] as const;
      });
    return { ...Object.fromEntries(entries), system: JSON.stringify(this.system) };
  }

  filesWith(text: string): string[] {
    return readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => {
        try {
          return readFileSync(file).includes(text);
        } catch (error) {
          // The file was removed after the listing.
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
          throw error;
        }
      })
      .map((file) => path.relative(this.root, file));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this;
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    while (this.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    rmSync(this.root, { recursive: true, force: true });
    this.workspace[Symbol.dispose]();
  }
}
