import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CSI_PROXY, GO_PROGRAM, NAME, PATHS, STUB, type NodeOnWindows } from './node-on-windows.js';
import { release } from './windows-upgrade-world.js';

/** Creates the files and services that the Go script leaves after two runs, and starts csi-proxy. */
export async function layOutAsGoScript(node: NodeOnWindows): Promise<void> {
  const program = GO_PROGRAM;
  copyFileSync(release('v1.0.0'), program);
  mkdirSync(PATHS.configFolder, { recursive: true });
  mkdirSync(PATHS.workFolder, { recursive: true });
  mkdirSync(PATHS.programFolder, { recursive: true });
  const config = [
    'systemagent:',
    '  remoteEnabled: true',
    `  connectionInfoFile: ${PATHS.connectionInfo}`,
    'tls-config:',
    `  certFilePath: ${PATHS.authorities}`,
  ];
  writeFileSync(PATHS.config, `${config.join('\r\n')}\r\n`);
  writeFileSync(PATHS.nodeId, '0123456789abcdef\r\n');
  writeFileSync(PATHS.authorities, node.rancher.ca);
  writeFileSync(PATHS.connectionInfo, node.api.connectionInfo());
  writeFileSync(path.join(PATHS.configFolder, 'powershell.exe'), 'a copy');
  copyFileSync(program, PATHS.program);
  const own = [...PATHS.morePathElements, PATHS.programFolder];
  node.writeMachinePath([String(node.machinePath.value), ...own, ...own].join(';'));
  copyFileSync(program, CSI_PROXY);
  const other = node.workspace.config([]);
  node.services.register({
    ...STUB,
    name: 'csiproxy',
    displayName: 'CSI Proxy',
    dependencies: [],
    command: [CSI_PROXY, 'srv', 'app', 'run', '--config', other],
  });
  await node.services.start('csiproxy');
  const command = [program, 'srv', 'app', 'run'];
  node.services.register({ ...STUB, name: NAME, command, dependencies: [] });
  await node.services.start(NAME);
}
