import { assertGranted, HostSystemError, ownNetworks, parseDestinations } from '@wins/host-system';

// What the configuration of a node grants, and what its routing table has.
const granted = ['10.42.0.0/16', '192.0.2.0/24'];
const routes = [
  { destinationCidr: '0.0.0.0/0', gateway: '192.0.2.1', interfaceIndex: 4, metric: 25 },
];
const own = ownNetworks(routes, {});

for (const text of ['10.42.7.9/24', '10.43.0.1', '192.0.2.1', '127.0.0.1']) {
  try {
    const destinations = parseDestinations([text]);
    assertGranted(destinations, granted, own);
    console.log(`route ${destinations.map(({ cidr }) => cidr).join()}`);
  } catch (error) {
    if (!(error instanceof HostSystemError)) throw error;
    console.log(error.code);
  }
}
