import type { ApiServer } from '@wins/system-agent/testing';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { runWins, type Outcome } from '../built-program.js';
import { commandValues } from '../commands/command-json.js';
import { Daemon } from '../daemon.js';
import { Workspace } from '../workspace.js';

export class PlanNode implements AsyncDisposable {
  readonly workspace = new Workspace();
  readonly home = this.workspace.path('agent');
  readonly plans = this.workspace.path('plans');
  #daemon: Daemon | undefined;

  get daemon(): Daemon {
    if (this.#daemon === undefined) throw new Error('the daemon was not started');
    return this.#daemon;
  }

  /** Writes a config file. Without `agent`, the agent is off. */
  config(
    agent?: Readonly<Record<string, unknown>>,
    allowed: readonly string[] = [],
    more: object = {},
  ): string {
    const folders = {
      workDirectory: path.join(this.home, 'work'),
      appliedPlanDirectory: path.join(this.home, 'applied'),
      imagesDirectory: path.join(this.home, 'images'),
      localPlanDirectory: this.plans,
    };
    const systemagent = agent && { ...folders, ...agent };
    return this.workspace.config(allowed, { ...(systemagent && { systemagent }), ...more });
  }

  remoteConfig(api: ApiServer): string {
    const connectionInfoFile = this.workspace.write('connection_info.json', api.connectionInfo());
    return this.config({ remoteEnabled: true, connectionInfoFile });
  }

  async start(config: string, ...args: string[]): Promise<Daemon> {
    return (this.#daemon = await Daemon.start(this.workspace, config, ...args));
  }

  localPlan(name: string, plan: object): string {
    return this.workspace.write(`plans/${name}`, JSON.stringify(plan));
  }

  wins(...args: string[]): Promise<Outcome> {
    return runWins(args, this.workspace.environment);
  }

  async ask<Answer>(command: string, ...args: string[]): Promise<Answer> {
    const { code, stdout, stderr } = await this.wins('srv', 'plan', command, '-o', 'json', ...args);
    if (code !== 0) throw new Error(stderr);
    const [answer] = commandValues(`srv plan ${command}`, [JSON.parse(String(stdout))]);
    return answer as Answer;
  }

  filesWith(text: string, folder = this.workspace.folder): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(text))
      .map((file) => path.relative(folder, file));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    this.workspace[Symbol.dispose]();
  }
}

/** A server that answers 200 until it is disposed. */
export async function wellComponent(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/healthz`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
