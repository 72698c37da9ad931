import {
  describePlan,
  desiredInstallation,
  itemId,
  type NodeFacts,
  planInstall,
  Secret,
  settingsFromEnvironment,
} from '@wins/installation';

// Variables that Rancher's registration command sets. The program and the connection info were downloaded and checked earlier.
const environment = {
  CATTLE_SERVER: 'https://rancher.example.com',
  CATTLE_TOKEN: 'a secret',
  CATTLE_ENABLE_WINS_DELAYED_START: 'True',
  HTTPS_PROXY: 'http://user:password@proxy.example.com:3128',
};
const desired = desiredInstallation(settingsFromEnvironment(environment, {}, 'win32'), {
  program: { file: 'C:\\staged\\wins.exe', sha256: 'ab'.repeat(32), version: 'v1.0.0' },
  connectionInfo: new Secret('{"kubeConfig": "…"}'),
});

// State of the node: it has the folders, but no part of wins.
const folders = ['etc', 'etc\\rancher', 'usr', 'usr\\local', 'usr\\local\\bin', 'var', 'var\\lib'];
const idOf = (name: string): string => itemId({ kind: 'folder', path: `C:\\${name}` });
const facts: NodeFacts = {
  platform: 'win32',
  states: new Map(folders.map((name) => [idOf(name), { access: 'readable' }])),
  folders: new Map(),
  isServiceBeingRemoved: false,
};

// Simplified for this example; `editConfig` of @wins/config keeps comments and unknown keys.
const editConfig = (config: Buffer, changes: object): Buffer =>
  Buffer.concat([config, Buffer.from(JSON.stringify(changes))]);
const plan = planInstall(facts, desired, editConfig);
if (plan.kind === 'steps')
  console.log(
    describePlan(plan)
      .join('\n')
      .replace(/"[0-9a-f]{64}"/g, '"…"'),
  );
