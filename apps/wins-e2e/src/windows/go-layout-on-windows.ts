import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  CSI_PROXY,
  GO_PROGRAM,
  NAME,
  PLACES,
  STUB,
  type NodeOnWindows,
} from './node-on-windows.js';
import { release } from './windows-upgrade-world.js';

/** Creates the files and services that the Go script leaves after two runs, and starts csi-proxy. */
export async function layOutAsGoScript(node: NodeOnWindows): Promise<void> {
  const program = GO_PROGRAM;
  copyFileSync(release('v1.0.0'), program);
  mkdirSync(PLACES.configFolder, { recursive: true });
  mkdirSync(PLACES.workFolder, { recursive: true });
  mkdirSync(PLACES.programFolder, { recursive: true });
  const config = [
    'systemagent:',
    '  remoteEnabled: true',
    `  connectionInfoFile: ${PLACES.connectionInfo}`,
    'tls-config:',
    `  certFilePath: ${PLACES.authorities}`,
  ];
  writeFileSync(PLACES.config, `${config.join('\r\n')}\r\n`);
  writeFileSync(PLACES.nodeId, '0123456789abcdef\r\n');
  writeFileSync(PLACES.authorities, node.rancher.ca);
  writeFileSync(PLACES.connectionInfo, node.api.connectionInfo());
  writeFileSync(path.join(PLACES.configFolder, 'powershell.exe'), 'a copy');
  copyFileSync(program, PLACES.program);
  const own = [...PLACES.morePathElements, PLACES.programFolder];
  node.writeMachinePath([String(node.machinePath.value), ...own, ...own].join(';'));
  copyFileSync(program, CSI_PROXY);
  const other = node.workspace.config([]);
  node.services.register({
    ...{ ...STUB, name: 'csiproxy', displayName: 'CSI Proxy', dependencies: [] },
    command: [CSI_PROXY, 'srv', 'app', 'run', '--config', other],
  });
  await node.services.start('csiproxy');
  const command = [program, 'srv', 'app', 'run'];
  node.services.register({ ...STUB, name: NAME, command, dependencies: [] });
  await node.services.start(NAME);
}
