import { proxyOf, systemRoots } from '@wins/net';

const environment = { HTTPS_PROXY: 'proxy.example:3128', NO_PROXY: '10.0.0.0/8,.internal' };
for (const server of ['https://registry.example', 'https://10.1.2.3:6443', 'https://a.internal'])
  console.log(proxyOf(new URL(server), environment));
console.log(systemRoots().length > 0);
