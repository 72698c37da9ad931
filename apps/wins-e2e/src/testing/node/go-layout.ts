import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { csiProgram, CsiService } from '../csi-proxy/csi-service.js';
import type { NodeWorld } from './node-world.js';
import { startServiceOf } from './service-of-node.js';

/** Node id, in lower-case hex as the Go release's script writes it. */
export const GO_NODE_ID = 'ab'.repeat(31);

/** A node as the script of the Go release leaves it: the installation is not recorded. */
export interface GoLayout {
  /** Service that commands find through `WINS_CSI_PROXY_SERVICE`. */
  readonly csiProxy: CsiService;
  readonly csiProxyProgram: string;
  readonly variables: NodeJS.ProcessEnv;
}

/**
 * Creates the files and services that the Go release's script leaves after two runs. The service runs a copy of wins.exe in the Windows folder.
 * csi-proxy is a separate service.
 */
export async function layOutAsGoScript(
  world: NodeWorld,
  {
    connectionInfo,
    authorities,
  }: { readonly connectionInfo: string; readonly authorities: string },
): Promise<GoLayout> {
  await world.wins(['install', '--dry-run']);
  const put = (file: string, content: string, mode = 0o600): void => {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, content, { mode });
  };
  for (const folder of ['etc/rancher/wins', 'var/lib/rancher/agent']) {
    mkdirSync(path.dirname(world.path(folder)), { recursive: true, mode: 0o755 });
    mkdirSync(world.path(folder), { mode: 0o700 });
  }
  const config = `
    agentStrictTLSMode: false
    systemagent:
      workDirectory: ${world.path('var/lib/rancher/agent/work')}
      appliedPlanDirectory: ${world.path('var/lib/rancher/agent/applied')}
      remoteEnabled: true
      localEnabled: false
      preserveWorkDirectory: false
      connectionInfoFile: ${world.connectionInfo}
    tls-config:
      certFilePath: ${world.authorities}
  `;
  put(world.config, config.replace(/^ {4}/gm, '').replace(/\n/g, '\r\n'));
  put(world.authorities, authorities);
  put(world.nodeId, `${GO_NODE_ID}\r\n`);
  put(world.connectionInfo, connectionInfo);
  put(world.path('etc/rancher/wins/powershell.exe'), 'a copy', 0o700);
  put(world.path('etc/rancher/wins/csi-proxy.log'), 'a log');
  for (const folder of ['work', 'applied'])
    mkdirSync(world.path('var/lib/rancher/agent', folder), { mode: 0o700 });
  put(world.program, world.text(world.release), 0o755);
  put(world.path('usr/local/bin/wins-agent-uninstall.ps1'), 'a script');
  mkdirSync(world.path('windows'));
  const program = world.path('windows/wins.exe');
  copyFileSync(world.release, program);
  const own = [world.path('var/lib/rancher/rke2/bin'), world.path('usr/local/bin')];
  const names = [...own.map((element) => `pathElement ${element}`), 'eventSource rancher-wins'];
  const things = Object.fromEntries(names.map((name) => [name, { state: 'present' }]));
  writeFileSync(world.path('system.json'), JSON.stringify({ services: {}, things }));
  const environment = { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '127.0.0.1' };
  const args = ['srv', 'app', 'run', '--config', world.config];
  await startServiceOf(world, 'rancher-wins', { program, args, environment });
  await world.version();

  const csiProxy = new CsiService(world.workspace.path('csi-service'));
  const csiProxyProgram = world.workspace.path('System32', 'csi-proxy.exe');
  put(csiProxyProgram, csiProgram('go', true), 0o755);
  await csiProxy.start({ program: csiProxyProgram, args: ['-windows-service'] });
  const variables = { WINS_CSI_PROXY_SERVICE: csiProxy.folder };
  return { csiProxy, csiProxyProgram, variables };
}
